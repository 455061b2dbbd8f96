(** The protocol of proofs/theory/ledger.md, "A store that lies", as a machine of states.

    Any number of processes write to one ledger before one witness. The store is the adversary: whoever reads is shown any
    beginning of what the store was ever given, whoever writes is told that it was written, truly or not. (Macs keep it
    from showing anything else.) A process may be killed between any two of its steps.

    An item is a release at one level, or a person's answer; a call draws for any number of them at once, all or none. What
    is drawn may be any values, chosen by the adversary: nothing is assumed of randomness. In every reachable state two answers to one item are equal; every answer is an event that the witness
    has settled and keeps for ever; and the store has been given one response for each item at most. *)
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Section Ledger.
Variables (item value : eqType) (process : eqType).
Notation event := (item * value)%type.

(** Where a process stands, and what it has in hand. *)
Inductive local :=
| Idle                                        (* has nothing in hand: before a call, or after a kill *)
| Read of item & seq event                    (* 1: has read a chain that the keys vouch for *)
| Checked of item & seq event                 (* 2: it contains all that the witness has settled *)
| Drawn of seq event & seq event              (* 3: has drawn a batch of responses, and shown it to nobody *)
| Held of seq event & seq event               (* 4: the witness holds it as pending *)
| Stored of seq event & seq event             (* 5: the store says that it holds it *)
| Settled of seq event.                       (* 6: the witness has settled it *)

Record state := State {
  chain : seq event;                          (* the witness: all that it holds, settled first *)
  settled : nat;                              (* how many of them are settled *)
  given : nat;                                (* how many of them the store was ever given *)
  answers : seq event;                        (* all answers that anybody was ever given *)
  at_ : process -> local }.

Definition start := State [::] 0 0 [::] (fun=> Idle).
Definition put (s : state) p l := fun q => if q == p then l else at_ s q.

Definition items (c : seq event) : seq item := [seq e.1 | e <- c].

Inductive step (s : state) : state -> Prop :=
(** A process is killed, at any moment; a call that is refused ends like this as well. *)
| Kill p : step s (State (chain s) (settled s) (given s) (answers s) (put s p Idle))
(** 1. It reads: the store shows any beginning of what it was given. *)
| Reads p i n : at_ s p = Idle -> n <= given s ->
    step s (State (chain s) (settled s) (given s) (answers s) (put s p (Read i (take n (chain s)))))
(** 2. It checks that all settled events are there. Events pending beyond them are carried out: the store is given them. *)
| Checks p i c : at_ s p = Read i c -> settled s <= size c ->
    step s (State (chain s) (settled s) (size (chain s)) (answers s) (put s p (Checked i (chain s))))
(** A repeated answer: the item is in what was read, the witness settles up to there, and the answer is returned. *)
| Repeats p i c v : at_ s p = Read i c -> settled s <= size c -> (i, v) \in c ->
    step s (State (chain s) (maxn (settled s) (size c)) (given s) ((i, v) :: answers s) (put s p Idle))
(** The same where an older chain is shown: then an answer is repeated only if it is settled. *)
| RepeatsOld p i c v : at_ s p = Read i c -> (i, v) \in c -> (i, v) \in take (settled s) (chain s) ->
    step s (State (chain s) (settled s) (given s) ((i, v) :: answers s) (put s p Idle))
(** The same after pending events were carried out: they are settled, and the answer is returned. *)
| RepeatsCarried p i c v : at_ s p = Checked i c -> (i, v) \in c ->
    step s (State (chain s) (maxn (settled s) (size c)) (given s) ((i, v) :: answers s) (put s p Idle))
(** A writer settles what it has read beyond what is settled: whoever wrote that was killed before. *)
| Catches p i c : at_ s p = Read i c -> settled s <= size c ->
    step s (State (chain s) (maxn (settled s) (size c)) (given s) (answers s) (put s p (Read i c)))
(** 3. It draws for any number of items without a response: any values. *)
| Draws p i c b : at_ s p = Checked i c -> uniq (items b) -> ~~ has (mem (items c)) (items b) ->
    step s (State (chain s) (settled s) (given s) (answers s) (put s p (Drawn c b)))
(** 4. The witness takes the batch, if nothing followed what was read. *)
| Holds p c b : at_ s p = Drawn c b -> chain s = c ->
    step s (State (chain s ++ b) (settled s) (given s) (answers s) (put s p (Held c b)))
(** 5. The store is given the batch and confirms it, truly or not. *)
| Stores p c b : at_ s p = Held c b ->
    step s (State (chain s) (settled s) (maxn (given s) (size (c ++ b))) (answers s) (put s p (Stored c b)))
(** 6. The witness settles it, whole. *)
| Settles p c b : at_ s p = Stored c b ->
    step s (State (chain s) (maxn (settled s) (size (c ++ b))) (given s) (answers s) (put s p (Settled b)))
(** 7. The answers are returned. *)
| Answers p b : at_ s p = Settled b ->
    step s (State (chain s) (settled s) (given s) (b ++ answers s) (put s p Idle)).

Inductive reachable : state -> Prop :=
| Started : reachable start
| Stepped s t : reachable s -> step s t -> reachable t.

(** What a process has in hand is true of the witness's chain. *)
Definition sound (s : state) (l : local) : Prop :=
  match l with
  | Idle => True
  | Read _ c => prefix c (chain s)
  | Checked _ c => prefix c (chain s)
  | Drawn c b => prefix c (chain s) /\ uniq (items b) /\ ~~ has (mem (items c)) (items b)
  | Held c b | Stored c b => prefix (c ++ b) (chain s)
  | Settled b => {subset b <= take (settled s) (chain s)}
  end.

Record invariant (s : state) : Prop := Invariant {
  one_each : uniq (items (chain s));
  settled_held : settled s <= size (chain s);
  given_held : given s <= size (chain s);
  answers_settled : {subset answers s <= take (settled s) (chain s)};
  all_sound : forall p, sound s (at_ s p) }.

Lemma take_more (T : eqType) (c d : seq T) n m : n <= m -> n <= size c -> {subset take n c <= take m (c ++ d)}.
Proof.
move=> nm nc x; rewrite -{1}(cat_take_drop n (take m (c ++ d))) mem_cat take_take // takel_cat // => ->; exact: orTb.
Qed.

(** The chain grows and so does its settled part: what was true of them stays true. *)
Lemma sound_grows s t l : (exists d, chain t = chain s ++ d) -> settled s <= settled t -> settled s <= size (chain s) ->
  sound s l -> sound t l.
Proof.
move=> [d ct] st sc; case: l => //= [i c|i c|c b|c b|c b|b]; rewrite ct.
- by move=> h; apply: prefix_trans h (prefix_prefix _ _).
- by move=> h; apply: prefix_trans h (prefix_prefix _ _).
- by case=> h ?; split=> //; apply: prefix_trans h (prefix_prefix _ _).
- by move=> h; apply: prefix_trans h (prefix_prefix _ _).
- by move=> h; apply: prefix_trans h (prefix_prefix _ _).
- by move=> h e /h; apply: take_more.
Qed.

Lemma prefix_size (c d : seq event) : prefix c d -> size c <= size d.
Proof. exact: size_prefix. Qed.

Lemma step_invariant s t : invariant s -> step s t -> invariant t.
Proof.
move=> [u sh gh as_ al] st.
(* Processes that did not move. *)
have others t' p l : (exists d, chain t' = chain s ++ d) -> settled s <= settled t' ->
    at_ t' = put s p l -> sound t' l -> forall q, sound t' (at_ t' q).
  move=> ct st' -> sl q; rewrite /put; case: (q == p) => //.
  by apply: sound_grows (al q).
have same : exists d, chain s = chain s ++ d by exists [::]; rewrite cats0.
have more m : settled s <= m -> {subset take (settled s) (chain s) <= take m (chain s)}.
  by move=> sm; have := @take_more _ (chain s) [::] _ _ sm sh; rewrite cats0.
have repeats p i c v : prefix c (chain s) -> (i, v) \in c ->
    invariant (State (chain s) (maxn (settled s) (size c)) (given s) ((i, v) :: answers s) (put s p Idle)).
  move=> know iv; have cs := size_prefix know.
  split=> //; [by rewrite /= geq_max sh| |by apply: (others _ p Idle) => //=; rewrite leq_maxl].
  move=> e; rewrite inE => /orP[/eqP->|/as_]; last by apply: more; apply: leq_maxl.
  case/prefixP: know => d ->; rewrite /= take_cat ltnNge leq_maxr /= mem_cat; by rewrite iv.
case: st => [p|p i n ap ng|p i c ap sc|p i c v ap sc iv|p i c v ap iv is_|p i c v ap iv|p i c ap sc|p i c b ap ub nb|p c b ap cc|p c b ap|p c b ap|p b ap];
  have := al p; rewrite ?ap => /= know.
- by split=> //; apply: (others _ p Idle).
- by split=> //; apply: (others _ p (Read i (take n (chain s)))) => //=; rewrite prefix_take.
- by split=> //; apply: (others _ p (Checked i (chain s))) => //=; rewrite prefix_refl.
- exact: repeats know iv.
- split=> //; last by apply: (others _ p Idle).
  by move=> e; rewrite inE => /orP[/eqP->|/as_].
- exact: repeats know iv.
- have cs := size_prefix know; split=> //; [by rewrite /= geq_max sh|by move=> e /as_; apply: more; apply: leq_maxl|].
  by apply: (others _ p (Read i c)) => //=; rewrite leq_maxl.
- by split=> //; apply: (others _ p (Drawn c b)).
- have g : exists d, chain s ++ b = chain s ++ d by exists b.
  case: know => _ [ub nb]; split.
  + by rewrite /= /items map_cat cat_uniq u ub -/(items (chain s)) cc -/(items b) nb.
  + by rewrite /= size_cat (leq_trans sh) ?leq_addr.
  + by rewrite /= size_cat (leq_trans gh) ?leq_addr.
  + by move=> e /as_ h /=; apply: take_more h.
  + by apply: (others _ p (Held c b)) => //=; rewrite cc prefix_refl.
- have := size_prefix know => cs.
  by split=> //; [rewrite /= geq_max gh|apply: (others _ p (Stored c b))].
- have := size_prefix know => cs.
  split=> //; [by rewrite /= geq_max sh|by move=> e /as_; apply: more; apply: leq_maxl|].
  apply: (others _ p (Settled b)) => //=; first by rewrite leq_maxl.
  case/prefixP: know => d -> e eb.
  by rewrite take_cat ltnNge leq_maxr /= !mem_cat eb orbT.
- split=> //; last by apply: (others _ p Idle).
  by move=> e; rewrite mem_cat => /orP[/know|/as_].
Qed.

Theorem reachable_invariant s : reachable s -> invariant s.
Proof.
elim=> [|{}s t _ IH st]; last exact: step_invariant st.
by split.
Qed.

Lemma one_value (c : seq event) i v w : uniq [seq e.1 | e <- c] -> (i, v) \in c -> (i, w) \in c -> v = w.
Proof.
elim: c => //= -[j x] c IH /andP[jc uc]; rewrite !inE !xpair_eqE.
case/orP=> [/andP[/eqP ij /eqP ->]|iv]; case/orP=> [/andP[/eqP ij' /eqP ->]|iw] //; last exact: IH.
- by case/negP: jc; rewrite -ij; apply/mapP; exists (i, w).
- by case/negP: jc; rewrite -ij'; apply/mapP; exists (i, v).
Qed.

(** One item, one answer. *)
Theorem one_answer s i v w : reachable s -> (i, v) \in answers s -> (i, w) \in answers s -> v = w.
Proof.
move=> /reachable_invariant[u _ _ as_ _] /as_/mem_take iv /as_/mem_take iw; exact: one_value u iv iw.
Qed.

(** The store has been given at most one response of an item. *)
Theorem store_sees_one s i v w : reachable s ->
  (i, v) \in take (given s) (chain s) -> (i, w) \in take (given s) (chain s) -> v = w.
Proof. move=> /reachable_invariant[u _ _ _ _] /mem_take iv /mem_take iw; exact: one_value u iv iw. Qed.

(** Whatever happens later, an answer stays among what is settled. *)
Inductive later (s : state) : state -> Prop :=
| Now : later s s
| Then t r : later s t -> step t r -> later s r.

Lemma step_grows s t : step s t -> (exists d, chain t = chain s ++ d) /\ settled s <= settled t.
Proof.
by case=> *; split=> /=; rewrite ?leq_maxl //; first [by exists [::]; rewrite cats0 | by eexists].
Qed.

Theorem nothing_lost s t i v : reachable s -> later s t -> (i, v) \in answers s -> (i, v) \in take (settled t) (chain t).
Proof.
move=> rs lt; have is_ := reachable_invariant rs; move=> iv.
have : reachable t /\ (i, v) \in take (settled t) (chain t).
  elim: lt => [|{}t r _ [rt it] st]; first by split=> //; apply: answers_settled.
  split; first exact: Stepped st.
  have [[d ->] le] := step_grows st; have := reachable_invariant rt => -[_ sh _ _ _].
  exact: take_more it.
by case.
Qed.

End Ledger.
