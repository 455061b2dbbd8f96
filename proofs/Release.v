(** Gradual release: responses at any levels, requested in any order by someone who sees all earlier responses.

    What has been answered for one cell is a list of pairs (alpha, response), the highest level first, so that alphas rise.
    The true value stands in front of the list as the response at alpha 0. This leaves two cases for a new level: behind
    the last response it is a tightening step, and between two neighbours it is the bridge. A first draw is a tightening
    from the value; relaxing is a bridge whose higher end is the value. The proof on paper: proofs/theory/promise.md. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Sums Geometric.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Release.
Variable F : archiFieldType.
Notation response := (F * int)%type.
Implicit Types (x a : F) (k : int) (p q : response) (s : seq response).

(** P(response q at the lower level | response p at the higher one). *)
Definition link p q : F := tighten p.1 q.1 (q.2 - p.2).

(** The distribution that the ledger draws from: P(k at level x | all answers so far), p being what stands before s. *)
Fixpoint draw p s x k : F :=
  match s with
  | [::] => link p (x, k)
  | q :: s' => if x < q.1 then link p (x, k) * link (x, k) q / link p q else draw q s' x k
  end.

Fixpoint insert s x k : seq response :=
  match s with
  | [::] => [:: (x, k)]
  | q :: s' => if x < q.1 then (x, k) :: s else q :: insert s' x k
  end.

(** The probability of a whole chain, from the response at the highest level to that at the lowest. *)
Fixpoint joint p s : F := if s is q :: s' then link p q * joint q s' else 1.

(** Alphas rise and stay below 1; a level is fresh where nothing was answered at it. *)
Fixpoint rising p s : bool := if s is q :: s' then (p.1 < q.1 < 1) && rising q s' else true.
Definition fresh p s x : bool := (p.1 < x < 1) && all (fun q => q.1 != x) s.

Lemma link_gt0 p q : 0 <= p.1 -> p.1 < q.1 < 1 -> 0 < link p q.
Proof. by move=> p0 /andP[pq q1]; apply: tighten_gt0. Qed.

Lemma joint_gt0 p s : 0 <= p.1 -> rising p s -> 0 < joint p s.
Proof.
elim: s p => [|q s IH] p p0 /=; first by rewrite ltr01.
move=> /andP[pq qs]; rewrite mulr_gt0 ?link_gt0 // IH //.
by apply: le_trans p0 _; case/andP: pq => /ltW.
Qed.

Lemma fresh_cons p q s x : fresh p (q :: s) x -> (x < q.1) = false -> fresh q s x.
Proof.
rewrite /fresh /= => /and3P[/andP[px x1] qx ->] /negbT; rewrite -leNgt x1 !andbT => le.
by rewrite lt_neqAle qx le.
Qed.

Lemma rising_insert p s x k : rising p s -> fresh p s x -> rising p (insert s x k).
Proof.
elim: s p => [|q s IH] p /=; first by rewrite /fresh /= !andbT.
case/andP=> pq qs fx; case: ifP => xq /=.
  by move: fx => /andP[-> _]; rewrite xq; case/andP: pq => _ ->.
by rewrite pq /=; apply: IH (fresh_cons fx xq).
Qed.

(** What is drawn is the conditional distribution of the chain, *)
Lemma joint_insert p s x k : 0 <= p.1 -> rising p s -> fresh p s x ->
  joint p (insert s x k) = joint p s * draw p s x k.
Proof.
elim: s p => [|q s IH] p p0 /=; first by rewrite mulr1 mul1r.
case/andP=> pq qs fx; have q0 : 0 <= q.1 by apply: le_trans p0 _; case/andP: pq => /ltW.
case: ifP => xq /=; last by rewrite IH // ?mulrA //; apply: fresh_cons fx xq.
have := link_gt0 p0 pq; move: (link p q) (joint q s) => A B A0; field; by rewrite gt_eqF.
Qed.

(** and it is a distribution: its mass is 1. *)
Theorem draw_sums p s x : 0 <= p.1 -> rising p s -> fresh p s x -> sums_to (draw p s x) 1.
Proof.
elim: s p => [|q s IH] p p0 /=.
  move=> _ /andP[/andP[px x1] _]; exact: sums_to_shift (tighten_sums p0 px x1).
case/andP=> /andP[pq q1] qs fx; have q0 : 0 <= q.1 by apply: le_trans p0 (ltW pq).
case xq: (x < q.1) => /=; last by apply: IH => //; apply: fresh_cons fx xq.
have l0 : 0 < link p q by rewrite link_gt0 // pq.
have px : p.1 < x by case/andP: fx => /andP[].
have C := tighten_chain (q.2 - p.2) p0 px xq q1.
have := sums_to_shift p.2 (sums_to_scale (_ : 0 < (link p q)^-1) C); rewrite invr_gt0 => /(_ l0).
rewrite /link mulVf ?gt_eqF //; apply: eq_sums_to => k /=.
by rewrite /link /= [LHS]mulrC; congr (_ * _ / _); congr (tighten _ _ _); lia.
Qed.

(** Forgetting one level leaves the chain of the others. So nothing is lost by having been careful first. *)
Theorem forget p s x : 0 <= p.1 -> rising p s -> fresh p s x ->
  sums_to (fun k => joint p (insert s x k)) (joint p s).
Proof.
move=> p0 ps fx; have := sums_to_scale (joint_gt0 p0 ps) (draw_sums p0 ps fx); rewrite mulr1.
by apply: eq_sums_to => k; rewrite joint_insert.
Qed.

(** The value enters through the response at the highest level alone. *)
Theorem joint_private u v s : rising (0, u) s ->
  (head (0, u) s).1 ^+ `|u - v|%N * joint (0, u) s <= joint (0, v) s.
Proof.
case: s => [|[a r] s] /=.
  move=> _; rewrite mulr1; case: `|u - v|%N => [|n]; first by rewrite expr0.
  by rewrite expr0n ler01.
move=> /andP[/andP[a0 a1] rs]; rewrite /link /= !tighten0.
rewrite mulrA ler_wpmul2r ?(ltW (joint_gt0 _ rs)) //=; first exact: ltW.
have -> : r - v = (r - u) - (v - u) by ring.
have -> : `|u - v|%N = `|v - u|%N by lia.
by apply: tsg_private; rewrite (ltW a0) a1.
Qed.

(** * Adaptive requests

    [asks h x] is the probability that a requester who has seen the transcript h asks for level x next. It may be any
    nonnegative function: any rule, with any coins of its own. A level that was answered is answered again by what is
    known, so new levels alone draw. A transcript lists levels and responses, the latest first. *)
Variable asks : seq response -> F -> F.
Hypothesis asks_ge0 : forall h x, 0 <= asks h x.

Fixpoint known (t : seq response) : seq response := if t is (x, k) :: t' then insert (known t') x k else [::].

Fixpoint chance (u : int) (t : seq response) : F :=
  if t is (x, k) :: t' then chance u t' * (asks t' x * draw (0, u) (known t') x k) else 1.
Fixpoint requests (t : seq response) : F := if t is (x, _) :: t' then requests t' * asks t' x else 1.

(** Every level lies in (0, 1) and is drawn for once. *)
Definition proper (t : seq response) := all (fun p => 0 < p.1 < 1) t && uniq [seq p.1 | p <- t].

Lemma insert_levels s y k x : (x \in [seq p.1 | p <- insert s y k]) = (x == y) || (x \in [seq p.1 | p <- s]).
Proof.
elim: s => [|q s IH] /=; first by rewrite !inE orbF.
by case: ifP => _ /=; rewrite !inE // IH orbCA.
Qed.

Lemma known_levels t x : (x \in [seq p.1 | p <- known t]) = (x \in [seq p.1 | p <- t]).
Proof. by elim: t => //= -[y k] t IH; rewrite insert_levels IH inE. Qed.

Lemma fresh_known u t x : 0 < x < 1 -> x \notin [seq p.1 | p <- t] -> fresh (0, u) (known t) x.
Proof.
rewrite /fresh /= => ->; rewrite -known_levels => xt /=; apply/allP => q qt.
by apply: contra xt => /eqP <-; apply: map_f.
Qed.

Lemma rising_known u t : proper t -> rising (0, u) (known t).
Proof.
elim: t => //= -[x k] t IH; rewrite /proper /= => /andP[/andP[x01 t01] /andP[xt ut]].
apply: rising_insert; [by apply: IH; rewrite /proper t01 ut|exact: fresh_known].
Qed.

(** The order of requests does not matter: what was said has the distribution of the chain. *)
Theorem any_order u t : proper t -> chance u t = requests t * joint (0, u) (known t).
Proof.
elim: t => [|[x k] t IH] /=; first by rewrite mulr1.
rewrite /proper /= => /andP[/andP[x01 t01] /andP[xt ut]]; have pt : proper t by rewrite /proper t01 ut.
by rewrite joint_insert //= ?rising_known ?fresh_known // IH // mulrACA.
Qed.

(** What the ledger rests on: everything ever said, and everything ever asked, is as private as the response at the
    highest level by itself. *)
Lemma requests_ge0 t : 0 <= requests t.
Proof. by elim: t => [|[x k] s IH] /=; rewrite ?ler01 // mulr_ge0. Qed.

Theorem release_private u v t a : proper t -> 0 <= a <= 1 -> (forall p, p \in t -> a <= p.1) ->
  a ^+ `|u - v|%N * chance u t <= chance v t.
Proof.
move=> pt /andP[a0 a1] least; rewrite !any_order // mulrCA ler_wpmul2l ?requests_ge0 //.
case E: (known t) => [|q s]; first by rewrite /= mulr1 exprn_ile1.
have rt w : rising (0, w) (q :: s) by rewrite -E rising_known.
have aq : a <= q.1.
  have : q.1 \in [seq p.1 | p <- t] by rewrite -known_levels E inE eqxx.
  by case/mapP => p pin ->; apply: least.
apply: le_trans (joint_private v (rt u)); rewrite ler_wpmul2r //; first by rewrite ltW // joint_gt0.
by rewrite ler_expn2r // nnegrE // (le_trans a0 aq).
Qed.

(** A first response has the distribution of its level. *)
Lemma alone u x k : draw (0, u) [::] x k = tsg x (k - u).
Proof. exact: tighten0. Qed.

End Release.

(** * Tables

    Each cell has a chain of its own, and may have least alphas of its own: the rows of a strategy have. One individual
    moves the values from u to v; how far, is counted in Counting.v. *)
Section Table.
Variable F : archiFieldType.

Theorem table_private (asks : seq (F * int) -> F -> F) (cell : finType) (u v : cell -> int) (t : cell -> seq (F * int))
    (a : cell -> F) :
  (forall h x, 0 <= asks h x) -> (forall i, proper (t i)) -> (forall i, 0 <= a i <= 1) ->
  (forall i p, p \in t i -> a i <= p.1) ->
  (\prod_i a i ^+ `|u i - v i|%N) * \prod_i chance asks (u i) (t i) <= \prod_i chance asks (v i) (t i).
Proof.
move=> asks_ge0 pt a01 least; rewrite -big_split /=; apply: ler_prod => i _; have /andP[a0 a1] := a01 i.
rewrite (release_private asks_ge0) ?a0 ?andbT //; last exact: least.
rewrite mulr_ge0 ?exprn_ge0 // any_order // mulr_ge0 ?requests_ge0 //.
by rewrite ltW // joint_gt0 ?rising_known.
Qed.

(** One requester over the whole table: each answer is a number for every cell, and the next level may depend on all of
    them. At the request x cell i is drawn at its share of it, [share i x]: a table's cells all at the same, the rows of
    a strategy each at its own. *)
Variables (cell : finType) (share : cell -> F -> F).
Notation numbers := (cell -> int).
Variable asks_all : seq (F * numbers) -> F -> F.
Hypothesis asks_all_ge0 : forall h x, 0 <= asks_all h x.

Definition row (t : seq (F * numbers)) i : seq (F * int) := [seq (share i p.1, p.2 i) | p <- t].
Fixpoint chances (u : numbers) (t : seq (F * numbers)) : F :=
  if t is (x, k) :: t' then
    chances u t' * (asks_all t' x * \prod_i draw (0, u i) (known (row t' i)) (share i x) (k i))
  else 1.
Fixpoint requests_all (t : seq (F * numbers)) : F :=
  if t is (x, _) :: t' then requests_all t' * asks_all t' x else 1.

Lemma chances_rows u t : chances u t = requests_all t * \prod_i chance (fun _ _ => 1) (u i) (row t i).
Proof.
elim: t => [|[x k] t IH] /=; first by rewrite big1 ?mulr1.
rewrite IH mulrACA -big_split /=; congr (_ * _); apply: eq_bigr => i _; by rewrite mul1r.
Qed.

Theorem one_requester u v (t : seq (F * numbers)) (a : cell -> F) : (forall i, proper (row t i)) ->
  (forall i, 0 <= a i <= 1) -> (forall i p, p \in row t i -> a i <= p.1) ->
  (\prod_i a i ^+ `|u i - v i|%N) * chances u t <= chances v t.
Proof.
move=> pt a01 least; rewrite !chances_rows mulrCA ler_wpmul2l //.
  by elim: (t) => [|[x k] s IH] /=; rewrite ?ler01 // mulr_ge0.
by apply: table_private => // h x; exact: ler01.
Qed.

(** With one level a for every cell: the level of the table goes with the sum of what one individual changes. *)
Corollary same_share u v (t : seq (F * numbers)) a : (forall i, proper (row t i)) -> 0 <= a <= 1 ->
  (forall i p, p \in row t i -> a <= p.1) ->
  a ^+ (\sum_i `|u i - v i|)%N * chances u t <= chances v t.
Proof. by move=> pt a01 least; rewrite -prodrXr; apply: one_requester. Qed.
End Table.
