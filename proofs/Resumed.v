(** A ledger that was put back to an earlier state: what was said after it was copied, and what is said now.

    Two continuations of one transcript [t]: [lost] was said and forgotten, and [since] is drawn by who knows [t] alone. So
    the two are drawn apart from each other, and cost more than the higher one: proofs/theory/ledger.md, "Resuming". *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Sums Geometric Release.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Resumed.
Variable F : archiFieldType.
Notation response := (F * int)%type.
Implicit Types (t lost since : seq response) (u v : int).

(** What follows t, each response drawn by what is known of t and of what followed it already. *)
Fixpoint follows (asks : seq response -> F -> F) u t s : F :=
  if s is (x, k) :: s' then follows asks u t s' * (asks (s' ++ t) x * draw (0, u) (known (s' ++ t)) x k) else 1.

Lemma chance_follows asks u t s : chance asks u (s ++ t) = chance asks u t * follows asks u t s.
Proof. by elim: s => [|[x k] s IH] /=; [rewrite mulr1|rewrite IH -mulrA]. Qed.

(** Whoever asks now may have heard what is lost. *)
Variables (asks : seq response -> F -> F) (asks_since : seq response -> seq response -> F -> F).
Hypothesis asks_ge0 : forall h x, 0 <= asks h x.
Hypothesis asks_since_ge0 : forall l h x, 0 <= asks_since l h x.
Definition said u t lost since : F := chance asks u t * follows asks u t lost * follows (asks_since lost) u t since.

Lemma unasked_asked ask t : (forall h x, 0 <= ask h x) ->
  exists o, 0 <= o /\ forall z, chance ask z t = o * chance (fun _ _ => 1) z t.
Proof.
move=> ask_ge0; elim: t => [|[x k] t [o [o0 IH]]] /=; first by exists 1; rewrite ler01; split=> // z; rewrite mulr1.
exists (o * ask t x); split=> [|z]; first by rewrite mulr_ge0.
by rewrite IH mul1r; move: (chance _ _ _) (draw _ _ _ _) => f d; ring.
Qed.

Lemma unasked_follows ask t s : (forall h x, 0 <= ask h x) ->
  exists r, 0 <= r /\ forall w, follows ask w t s = r * follows (fun _ _ => 1) w t s.
Proof.
move=> ask_ge0; elim: s => [|[x k] s [r [r0 IH]]] /=; first by exists 1; rewrite ler01; split=> // w; rewrite mulr1.
exists (r * ask (s ++ t) x); split=> [|w]; first by rewrite mulr_ge0.
by rewrite IH mul1r; move: (follows _ _ _ _) (draw _ _ _ _) => f d; ring.
Qed.

Lemma chance_gt0 u t : proper t -> 0 < chance (fun _ _ => 1) u t.
Proof.
move=> pt; rewrite any_order // mulr_gt0 //; last by rewrite joint_gt0 // rising_known.
by elim: {pt} t => [|[x k] t IH] /=; rewrite ?mulr1 ?ltr01.
Qed.

(** The distribution of the whole is the product of both continuations over what they share. *)
Lemma shared_once (C W S tu tv lu lv ru rv : F) : 0 < tu -> 0 < tv -> 0 <= W -> 0 <= S -> 0 < lu -> 0 < ru ->
  C * tv <= tu -> W * (tu * lu) <= tv * lv -> S * (tu * ru) <= tv * rv ->
  C * W * S * (tu * lu * ru) <= tv * lv * rv.
Proof.
move=> tu0 tv0 W0 S0 lu0 ru0 hC hW hS; rewrite -(ler_pmul2l tv0).
have -> : tv * (C * W * S * (tu * lu * ru)) = C * tv * (W * lu * (S * (tu * ru))) by ring.
have -> : tv * (tv * lv * rv) = tv * lv * (tv * rv) by ring.
apply: le_trans (_ : tu * (W * lu * (S * (tu * ru))) <= _).
  by rewrite ler_wpmul2r // !mulr_ge0 // ltW.
have -> : tu * (W * lu * (S * (tu * ru))) = W * (tu * lu) * (S * (tu * ru)) by ring.
by apply: ler_pmul => //; rewrite !mulr_ge0 // ltW.
Qed.

(** With the level c of what both share, w of what is lost and s of what is said since: c + w + s, in alphas. *)
Theorem resumed_private u v t lost since (c w s : F) :
  proper (lost ++ t) -> proper (since ++ t) -> 0 <= c <= 1 -> 0 <= w <= 1 -> 0 <= s <= 1 ->
  (forall p, p \in t -> c <= p.1) -> (forall p, p \in lost ++ t -> w <= p.1) ->
  (forall p, p \in since ++ t -> s <= p.1) ->
  (c * w * s) ^+ `|u - v|%N * said u t lost since <= said v t lost since.
Proof.
move=> pl ps c01 w01 s01 tc lw ls; have pt : proper t.
  by move: pl; rewrite /proper all_cat map_cat cat_uniq => /andP[/andP[_ ->] /and3P[_ _ ->]].
have ones : forall (h : seq response) (x : F), 0 <= (fun _ _ => 1 : F) h x by move=> *; exact: ler01.
have L := release_private ones u v pl w01 lw.
have S := release_private ones u v ps s01 ls.
have T := release_private ones v u pt c01 tc.
have [q [q0 Q]] := unasked_follows t lost asks_ge0.
have [r [r0 R]] := unasked_follows t since (asks_since_ge0 lost).
have [o [o0 O]] := unasked_asked t asks_ge0.
rewrite /said !Q !R !O !exprMn.
have lu := chance_gt0 u pl; have ru := chance_gt0 u ps.
have tu := chance_gt0 u pt; have tv := chance_gt0 v pt.
move: L S T lu ru; rewrite !chance_follows distnC !(pmulr_rgt0 _ tu).
move: (follows _ u t lost) (follows _ v t lost) (follows _ u t since) (follows _ v t since) tu tv.
move: (chance _ u t) (chance _ v t) => tu tv lu lv ru rv tu0 tv0 L S T lu0 ru0.
have [/andP[w0 _] /andP[s0 _]] := (w01, s01).
have -> (C W Z : F) : C * W * Z * (o * tu * (q * lu) * (r * ru)) = o * q * r * (C * W * Z * (tu * lu * ru)) by ring.
have -> : o * tv * (q * lv) * (r * rv) = o * q * r * (tv * lv * rv) by ring.
rewrite ler_wpmul2l ?mulr_ge0 //.
by apply: (shared_once tu0 tv0 _ _ lu0 ru0 T L S); rewrite exprn_ge0.
Qed.

End Resumed.

(** * Tables that were put back

    One requester over all cells, of which each has its own share of a level: both continuations are drawn by who sees
    the whole table. *)
Section ResumedTable.
Variable F : archiFieldType.
Variables (cell : finType) (share : cell -> F -> F).
Notation numbers := (cell -> int).
Notation transcript := (seq (F * numbers)).
Implicit Types (t lost since s : transcript) (u v : numbers).

Fixpoint all_follow (asks : transcript -> F -> F) u t s : F :=
  if s is (x, k) :: s' then
    all_follow asks u t s' *
    (asks (s' ++ t) x * \prod_i draw (0, u i) (known (row share (s' ++ t) i)) (share i x) (k i))
  else 1.

Variables (asks : transcript -> F -> F) (asks_since : transcript -> transcript -> F -> F).
Hypothesis asks_ge0 : forall h x, 0 <= asks h x.
Hypothesis asks_since_ge0 : forall l h x, 0 <= asks_since l h x.
Definition all_said u t lost since : F :=
  chances share asks u t * all_follow asks u t lost * all_follow (asks_since lost) u t since.

Notation one := (fun (_ : seq (F * int)) (_ : F) => 1 : F).

Lemma all_follow_rows ask t s : (forall h x, 0 <= ask h x) ->
  exists r, 0 <= r /\ forall z, all_follow ask z t s = r * \prod_i follows one (z i) (row share t i) (row share s i).
Proof.
move=> ask_ge0; elim: s => [|[x k] s [r [r0 IH]]] /=.
  by exists 1; rewrite ler01; split=> // z; rewrite big1 ?mulr1.
exists (r * ask (s ++ t) x); split=> [|z]; first by rewrite mulr_ge0.
rewrite IH mulrACA -big_split /=; congr (_ * _); apply: eq_bigr => i _.
by rewrite mul1r /row map_cat.
Qed.

(** With the alphas c of what both share, w of what is lost and s of what is said since, for each cell. *)
Theorem resumed_table u v t lost since (c w s : cell -> F) :
  (forall i, proper (row share (lost ++ t) i)) -> (forall i, proper (row share (since ++ t) i)) ->
  (forall i, [/\ 0 <= c i <= 1, 0 <= w i <= 1 & 0 <= s i <= 1]) ->
  (forall i p, p \in row share t i -> c i <= p.1) -> (forall i p, p \in row share (lost ++ t) i -> w i <= p.1) ->
  (forall i p, p \in row share (since ++ t) i -> s i <= p.1) ->
  (\prod_i (c i * w i * s i) ^+ `|u i - v i|%N) * all_said u t lost since <= all_said v t lost since.
Proof.
move=> pl ps cws tc lw ls.
have [q [q0 Q]] := all_follow_rows t lost asks_ge0.
have [r [r0 R]] := all_follow_rows t since (asks_since_ge0 lost).
have whole z : all_said z t lost since = requests_all asks t * q * r *
    \prod_i said one (fun=> one) (z i) (row share t i) (row share lost i) (row share since i).
  rewrite /all_said Q R chances_rows /said !big_split /=.
  by move: (requests_all _ _) (\prod_i chance _ _ _) (\prod_i follows _ _ _ _) (\prod_i follows _ _ _ _) => A B C D; ring.
have o0 : 0 <= requests_all asks t.
  by elim: (t) => [|[x k] h IH] /=; rewrite ?ler01 // mulr_ge0.
have ones (h : seq (F * int)) (x : F) : 0 <= one h x by exact: ler01.
rewrite !whole mulrCA ler_wpmul2l ?mulr_ge0 // -big_split /=; apply: ler_prod => i _.
have [c01 w01 s01] := cws i; have [/andP[c0 _] /andP[w0 _] /andP[s0 _]] := And3 c01 w01 s01.
have pli := pl i; have psi := ps i; have wi := lw i; have si := ls i.
move: pli psi wi si; rewrite /row !map_cat => pli psi wi si.
have said_ge0 z : 0 <= said one (fun=> one) z (row share t i) (row share lost i) (row share since i).
  have pt : proper (row share t i).
    by move: pli; rewrite /proper all_cat map_cat cat_uniq => /andP[/andP[_ ->] /and3P[_ _ ->]].
  have t0 := chance_gt0 z pt; have := chance_gt0 z pli; have := chance_gt0 z psi.
  rewrite !chance_follows !(pmulr_rgt0 _ t0) => s0' l0'; by rewrite /said !mulr_ge0 // ltW.
rewrite (resumed_private ones (fun=> ones) (u i) (v i) pli psi c01 w01 s01 (tc i) wi si) andbT.
by rewrite mulr_ge0 // exprn_ge0 // !mulr_ge0.
Qed.
End ResumedTable.
