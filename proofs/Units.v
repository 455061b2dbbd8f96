(** What a strategy of families is charged for one individual: the closed forms of proofs/theory/workloads.md.

    A family puts every cell into one group; a total is a family of one group. Each sum of a group has independent
    geometric noise at the level of its family. One individual is counted in at most k of n cells, in each with at most s,
    and in all with at most P. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Sums Geometric Release Strategies.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section SizesOfSums.
Variables (I : finType).
Implicit Types (P : pred I) (d : I -> int).

Lemma sum_size P d : (`|(\sum_(a | P a) d a)%R| <= \sum_(a | P a) `|d a|)%N.
Proof. by elim/big_rec2: _ => [|a m x _ H] //; lia. Qed.

Lemma sum_up P d : (forall a, P a -> 0 <= d a) -> (`|(\sum_(a | P a) d a)%R| = \sum_(a | P a) `|d a|)%N.
Proof.
move=> up; have : 0 <= \sum_(a | P a) d a /\ (`|(\sum_(a | P a) d a)%R| = \sum_(a | P a) `|d a|)%N; last by case.
by elim/big_rec2: _ => [|a m x /up a0 [x0 H]] //; split; lia.
Qed.

Lemma sum_alike P d : (forall a b, P a -> P b -> 0 <= d a * d b) ->
  (`|(\sum_(a | P a) d a)%R| = \sum_(a | P a) `|d a|)%N.
Proof.
move=> alike; case: (pickP (fun a => P a && (0 < d a))) => [a /andP[Pa a0]|none].
  by apply: sum_up => b Pb; have := alike a b Pa Pb; rewrite pmulr_rge0.
rewrite -[LHS]abszN -sumrN (sum_up (d := fun a => - d a)) => [|a Pa]; first by apply: eq_bigr => a _; rewrite abszN.
by have := none a; rewrite Pa /=; lia.
Qed.
End SizesOfSums.

Section Families.
Variable F : archiFieldType.
Variables (n : nat) (family group : finType) (put : family -> 'I_n -> group) (alpha : family -> F).
Hypothesis alpha01 : forall f, 0 < alpha f < 1.
(** Families of one group: each is the total. *)
Variable is_total : pred family.
Hypothesis total_whole : forall f, is_total f -> forall a b, put f a = put f b.
Implicit Types (c d x : 'I_n -> int).

Definition weight (r : family * group) (a : 'I_n) : int := (put r.1 a == r.2)%:Z.
Definition level_of (r : family * group) : F := alpha r.1.
Notation cost := (charge weight level_of).
Notation said := (distribution weight level_of).

(** exp(-R) and exp(-e_0): the levels of all families but the total, added up, and that of the total. *)
Definition rest : F := \prod_(f | ~~ is_total f) alpha f.
Definition whole : F := \prod_(f | is_total f) alpha f.
(** How much a change moves in all, and by how much the total. *)
Definition size_in_all d : nat := (\sum_a `|d a|)%N.
Definition net d : nat := `|(\sum_a d a)%R|%N.
Definition family_moves d f : nat := (\sum_g `|row_value weight d (f, g)|)%N.

Lemma product01 (Q : pred family) : 0 < \prod_(f | Q f) alpha f <= 1.
Proof.
apply: (big_ind (fun z => 0 < z <= 1)) => [|u v /andP[u0 u1] /andP[v0 v1]|f _]; first by rewrite ltr01 lexx.
  by apply/andP; split; [apply: mulr_gt0 | apply: mulr_ile1 => //; apply: ltW].
by have /andP[a0 a1] := alpha01 f; rewrite a0 ltW.
Qed.
Lemma rest01 : 0 < rest <= 1. Proof. exact: product01. Qed.
Lemma whole01 : 0 < whole <= 1. Proof. exact: product01. Qed.

Lemma row_sum d f g : row_value weight d (f, g) = \sum_(a | put f a == g) d a.
Proof.
rewrite /row_value big_mkcond [RHS]big_mkcond /=; apply: eq_bigr => a _.
by rewrite /weight /=; case: eqP => _; rewrite ?mul1r ?mul0r.
Qed.

Lemma cost_families d : cost d = \prod_f alpha f ^+ family_moves d f.
Proof.
rewrite /charge; under [RHS]eq_bigr do rewrite -prodrXr.
by rewrite pair_bigA; apply: eq_bigr => -[f g].
Qed.

Lemma by_groups d f : (\sum_g \sum_(a | put f a == g) `|d a|)%N = size_in_all d.
Proof.
rewrite /size_in_all [RHS](partition_big (put f) xpredT) //=.
Qed.

Lemma moves_size d f : (family_moves d f <= size_in_all d)%N.
Proof. by rewrite -(by_groups d f); apply: leq_sum => g _; rewrite row_sum sum_size. Qed.

Lemma moves_alike d f : (forall a b, put f a = put f b -> 0 <= d a * d b) -> family_moves d f = size_in_all d.
Proof.
move=> alike; rewrite -(by_groups d f); apply: eq_bigr => g _; rewrite row_sum; apply: sum_alike => a b.
by move=> /eqP pa /eqP pb; apply: alike; rewrite pa pb.
Qed.

Lemma moves_total d f : is_total f -> family_moves d f = net d.
Proof.
move=> tf; case: (pickP (fun _ : 'I_n => true)) => [a0 _ | none]; last first.
  rewrite /family_moves /net big1 => [|g _]; first by rewrite big_pred0.
  by rewrite row_sum big_pred0 // => a; have := none a.
rewrite /family_moves (bigD1 (put f a0)) //= big1 ?addn0 => [|g /negbTE ng].
  by rewrite row_sum /net; congr `|_|%N; apply: eq_bigl => a; rewrite (total_whole tf a a0) eqxx.
by rewrite row_sum big_pred0 // => a; rewrite (total_whole tf a a0) eq_sym.
Qed.

Lemma cost_least d : rest ^+ size_in_all d * whole ^+ net d <= cost d.
Proof.
rewrite cost_families (bigID is_total) /= mulrC; have /andP[w0 _] := whole01; have /andP[r0 _] := rest01.
apply: ler_pmul; [by rewrite exprn_ge0 // ltW | by rewrite exprn_ge0 // ltW | |].
  rewrite /rest -prodrXl; apply: ler_prod => f _; have /andP[a0 a1] := alpha01 f.
  by rewrite exprn_ge0 /= ?ler_wiexpn2l ?moves_size // ltW.
rewrite /whole -prodrXl; apply: ler_prod => f tf; have /andP[a0 _] := alpha01 f.
by rewrite moves_total // exprn_ge0 ?lexx // ltW.
Qed.

Lemma cost_alike d : (forall f a b, ~~ is_total f -> put f a = put f b -> 0 <= d a * d b) ->
  cost d = rest ^+ size_in_all d * whole ^+ net d.
Proof.
move=> alike; rewrite cost_families (bigID is_total) /= mulrC /rest /whole -!prodrXl.
congr (_ * _); apply: eq_bigr => f tf; last by rewrite moves_total.
by rewrite moves_alike // => a b; apply: alike.
Qed.

Lemma cost_up d : (forall a, 0 <= d a) -> cost d = (rest * whole) ^+ size_in_all d.
Proof.
move=> up; rewrite cost_alike => [|f a b _ _]; last exact: mulr_ge0.
by rewrite exprMn /net sum_up.
Qed.

Lemma net_size d : (net d <= size_in_all d)%N. Proof. exact: sum_size. Qed.

(** A smaller exponent is a smaller loss. *)
Lemma spent_more i j i' j' : (i <= i')%N -> (j <= j')%N -> rest ^+ i' * whole ^+ j' <= rest ^+ i * whole ^+ j.
Proof.
move=> ii jj; have /andP[r0 r1] := rest01; have /andP[w0 w1] := whole01.
by apply: ler_pmul; rewrite ?exprn_ge0 ?ler_wiexpn2l ?(ltW r0) ?(ltW w0).
Qed.

Lemma private_if d bound : bound <= cost d -> forall x y, bound * said x y <= said (moved x d) y.
Proof.
move=> le x y; apply: le_trans (rows_private weight _ x d y); last by move=> r; apply: alpha01.
by rewrite ler_pmul2r // distribution_gt0 // => r; apply: alpha01.
Qed.

(** * One individual *)
Variables (k s P : nat).

Definition counted c : Prop :=
  [/\ (#|[pred a | c a != 0]| <= k)%N, forall a, (`|c a| <= s)%N & (size_in_all c <= P)%N].
Definition only_adds c : Prop := forall a, 0 <= c a.
Definition reach : nat := minn (minn (s * k) P) (s * n).
Definition replaced c c' a : int := c' a - c a.

Lemma counted_reach c : counted c -> (size_in_all c <= reach)%N.
Proof.
case=> few small inall; have le : (size_in_all c <= s * #|[pred a | c a != 0]|)%N.
  rewrite -sum1_card big_distrr /= [X in (_ <= X)%N]big_mkcond /=; apply: leq_sum => a _.
  by rewrite inE; case: eqP => [->|_] //; rewrite muln1.
rewrite /reach !leq_min inall andbT; apply/andP; split; apply: leq_trans le _; rewrite leq_mul2l ?few ?orbT //.
by rewrite -[X in (_ <= X)%N]card_ord max_card orbT.
Qed.

(** Add-remove: the level of all families together, as often as one individual reaches. *)
Theorem added_private c : counted c -> forall x y, (rest * whole) ^+ reach * said x y <= said (moved x c) y.
Proof.
move=> cc; apply: private_if; apply: le_trans (cost_least c); rewrite exprMn.
by apply: spent_more; rewrite ?(leq_trans (net_size c)) // counted_reach.
Qed.

(** Change-one, where cells may be lowered: twice. *)
Lemma replaced_size c c' : (size_in_all (replaced c c') <= size_in_all c + size_in_all c')%N.
Proof. by rewrite /size_in_all -big_split /=; apply: leq_sum => a _; rewrite /replaced /=; lia. Qed.

Theorem replaced_private c c' : counted c -> counted c' ->
  forall x y, (rest * whole) ^+ (2 * reach) * said x y <= said (moved x (replaced c c')) y.
Proof.
move=> /counted_reach cc /counted_reach cc'; apply: private_if; apply: le_trans (cost_least _); rewrite exprMn.
have le := replaced_size c c'; have := net_size (replaced c c').
by move=> nt; apply: spent_more; lia.
Qed.

(** Change-one where nobody lowers a cell: what is added and what is taken away are parts of one record each. *)
Lemma sums_up c : only_adds c -> \sum_a c a = (size_in_all c)%:Z.
Proof.
move=> up; rewrite /size_in_all -(@sum_up _ predT c (fun a _ => up a)) gez0_abs //.
by apply: sumr_ge0 => a _; apply: up.
Qed.

Lemma sum_of_sizes (f : 'I_n -> nat) : (\sum_a f a)%N%:Z = \sum_a (f a)%:Z.
Proof. by rewrite (big_morph Posz PoszD (erefl _)). Qed.

Lemma replaced_sums c c' : \sum_a replaced c c' a = \sum_a c' a - \sum_a c a.
Proof. by rewrite /replaced sumrB. Qed.

Lemma replaced_part c c' : only_adds c -> only_adds c' -> counted c -> counted c' ->
  (size_in_all (replaced c c') + net (replaced c c') <= 2 * reach)%N.
Proof.
have half (u v : 'I_n -> int) : only_adds u -> only_adds v ->
    (size_in_all (replaced u v))%:Z + \sum_a replaced u v a <= 2 * (size_in_all v)%:Z.
  move=> up vp; rewrite -(sums_up vp) mulr_sumr /size_in_all.
  rewrite sum_of_sizes -big_split /=; apply: ler_sum => a _; have := up a; have := vp a; rewrite /replaced; lia.
move=> up up' /counted_reach cc /counted_reach cc'; have := half c c' up up'; have := half c' c up' up.
have -> : size_in_all (replaced c' c) = size_in_all (replaced c c').
  by apply: eq_bigr => a _; rewrite /replaced -abszN opprB.
rewrite /net !replaced_sums; lia.
Qed.

Lemma replaced_cells c c' : only_adds c -> only_adds c' -> counted c -> counted c' ->
  (size_in_all (replaced c c') <= s * n)%N.
Proof.
move=> up up' [_ small _] [_ small' _]; rewrite /size_in_all.
have -> : (s * n = \sum_(a < n) s)%N by rewrite sum_nat_const card_ord mulnC.
apply: leq_sum => a _; have := up a; have := up' a; have := small a; have := small' a; rewrite /replaced /=; lia.
Qed.

Definition both : nat := minn (2 * reach) (s * n).

Theorem nothing_negative c c' : only_adds c -> only_adds c' -> counted c -> counted c' ->
  forall x y, Num.min ((rest * whole) ^+ reach) (rest ^+ both * whole ^+ (2 * reach - both)) * said x y
  <= said (moved x (replaced c c')) y.
Proof.
move=> up up' cc cc'; apply: private_if; apply: le_trans (cost_least _).
have := replaced_part up up' cc cc'; have := replaced_cells up up' cc cc'; have := net_size (replaced c c').
move: (size_in_all _) (net _) => i j ji i_cells i_part.
have /andP[r0 r1] := rest01; have /andP[w0 w1] := whole01.
rewrite le_minl; case: (leqP i reach) => ix.
  by apply/orP; left; rewrite exprMn; apply: spent_more; lia.
have ib : (i <= both)%N by rewrite /both; lia.
have b2 : (both <= 2 * reach)%N by rewrite /both; lia.
have le : rest ^+ i * whole ^+ (2 * reach - i) <= rest ^+ i * whole ^+ j by apply: spent_more; lia.
case: (leP rest whole) => rw; apply/orP; [right|left]; apply: le_trans le.
  have -> : both = (i + (both - i))%N by lia.
  have -> : (2 * reach - i = (both - i) + (2 * reach - (i + (both - i))))%N by lia.
  rewrite !exprD -mulrA ler_pmul2l ?exprn_gt0 // ler_pmul2r ?exprn_gt0 //.
  by rewrite ler_expn2r // ?nnegrE ltW.
rewrite exprMn; have -> : rest ^+ i = rest ^+ reach * rest ^+ (i - reach) by rewrite -exprD; congr (_ ^+ _); lia.
have -> : whole ^+ reach = whole ^+ (i - reach) * whole ^+ (2 * reach - i).
  by rewrite -exprD; congr (_ ^+ _); lia.
by rewrite -!mulrA ler_pmul2l ?exprn_gt0 // ler_pmul2r ?exprn_gt0 // ler_expn2r // ?nnegrE ltW.
Qed.

(** Change-one where everybody is counted with all of it: the total is public, at whatever level, and costs nothing. *)
Definition everybody c : Prop := [/\ only_adds c, counted c & size_in_all c = reach].
Definition left_over : nat := minn reach (s * n - reach).

Theorem total_stays c c' x : everybody c -> everybody c' -> \sum_a moved x (replaced c c') a = \sum_a x a.
Proof.
by move=> [up _ e] [up' _ e']; rewrite big_split /= replaced_sums (sums_up up) (sums_up up') e e' subrr addr0.
Qed.

Theorem public_total c c' : everybody c -> everybody c' ->
  forall x y, rest ^+ (2 * left_over) * said x y <= said (moved x (replaced c c')) y.
Proof.
move=> [up cc e] [up' cc' e']; apply: private_if; apply: le_trans (cost_least _).
have n0 : net (replaced c c') = 0%N by rewrite /net replaced_sums (sums_up up) (sums_up up') e e' subrr.
have := replaced_part up up' cc cc'; rewrite n0 addn0 expr0 mulr1 => part.
have /andP[r0 r1] := rest01; rewrite ler_wiexpn2l ?(ltW r0) // /left_over.
suff : (size_in_all (replaced c c') <= 2 * (s * n - reach))%N by lia.
case: cc => [_ small _]; case: cc' => [_ small' _].
have cover : (size_in_all (replaced c c'))%:Z + \sum_a replaced c c' a <= 2 * ((s * n)%:Z - \sum_a c a).
  have -> : (s * n)%:Z = \sum_(a < n) s%:Z by rewrite -(sum_of_sizes (fun=> s)) sum_nat_const card_ord mulnC.
  rewrite /size_in_all sum_of_sizes -sumrB mulr_sumr -big_split /=; apply: ler_sum => a _.
  by have := up a; have := up' a; have := small a; have := small' a; rewrite /replaced; lia.
move: cover; rewrite replaced_sums (sums_up up) (sums_up up') e e'; lia.
Qed.

(** * No smaller level *)
Definition filled a : nat := minn s (reach - s * a).
Definition full (a : 'I_n) : int := (filled a)%:Z.

Lemma full_sum m : (\sum_(a < m) filled a = minn reach (s * m))%N.
Proof.
elim: m => [|m IH]; first by rewrite big_ord0 muln0; lia.
by rewrite big_ord_recr /= IH /filled mulnS; lia.
Qed.

Lemma full_size : size_in_all full = reach.
Proof. by rewrite /size_in_all (eq_bigr (fun a : 'I_n => filled a)) // full_sum /reach; lia. Qed.

Lemma full_up : only_adds full. Proof. by []. Qed.

Lemma card_below m : (#|[pred a : 'I_n | (a < m)%N]| <= m)%N.
Proof.
rewrite cardE -(size_map val) -{2}(size_iota 0 m); apply: uniq_leq_size; first by rewrite map_inj_uniq ?enum_uniq //; exact: val_inj.
by move=> i /mapP[a]; rewrite mem_enum inE => am ->; rewrite mem_iota.
Qed.

Lemma full_counted : counted full.
Proof.
split=> [|a|]; last by rewrite full_size /reach; lia.
  2: by rewrite /full /filled; lia.
apply: (leq_trans _ (card_below k)); apply: subset_leq_card; apply/subsetP => a; rewrite !inE /full /filled.
case: (ltnP a k) => // ka; have le : (s * k <= s * a)%N by rewrite leq_mul2l ka orbT.
have : (reach <= s * k)%N by rewrite /reach; lia.
by lia.
Qed.

Theorem added_exact bound :
  (forall c, counted c -> forall x y, bound * said x y <= said (moved x c) y) <-> bound <= (rest * whole) ^+ reach.
Proof.
split=> [H|le c cc x y]; last first.
  by apply: le_trans (added_private cc x y); rewrite ler_pmul2r // distribution_gt0 // => r; apply: alpha01.
rewrite -full_size -cost_up //; have [+ _] := @charge_exact F n _ weight level_of (fun r => alpha01 r.1) counted bound.
by move/(_ H full full_counted).
Qed.

Theorem replaced_exact bound :
  (forall c c', counted c -> counted c' -> forall x y, bound * said x y <= said (moved x (replaced c c')) y) <->
  bound <= (rest * whole) ^+ (2 * reach).
Proof.
split=> [H|le c c' cc cc' x y]; last first.
  by apply: le_trans (replaced_private cc cc' x y); rewrite ler_pmul2r // distribution_gt0 // => r; apply: alpha01.
pose minus a := - full a; have down : counted minus.
  have [few small inall] := full_counted; split=> [|a|].
  - by apply: leq_trans few; apply: subset_leq_card; apply/subsetP => a; rewrite !inE /minus oppr_eq0.
  - by rewrite /minus abszN.
  by apply: leq_trans inall; apply: leq_sum => a _; rewrite /minus abszN.
pose twice := replaced minus full.
have size2 : size_in_all twice = (2 * reach)%N.
  rewrite -full_size /size_in_all big_distrr /=; apply: eq_bigr => a _.
  by rewrite /twice /replaced /minus /full; lia.
rewrite -size2 -cost_up => [|a]; last by rewrite /twice /replaced /minus /full; lia.
have [+ _] := @charge_exact F n _ weight level_of (fun r => alpha01 r.1) (fun d => d = twice) bound.
by apply=> // d -> x y; apply: H => //; apply: full_counted.
Qed.

(** A record and another in groups of their own, but for the total, lose all that the bounds above say. *)
Theorem apart_attained c c' : only_adds c -> only_adds c' ->
  (forall a, c a = 0 \/ c' a = 0) -> (forall f a b, ~~ is_total f -> put f a = put f b -> c a = 0 \/ c' b = 0) ->
  exists y, said (moved (fun=> 0) (replaced c c')) y =
    rest ^+ (size_in_all c + size_in_all c') * whole ^+ `|(size_in_all c')%:Z - (size_in_all c)%:Z|%N * said (fun=> 0) y.
Proof.
move=> up up' disjoint apart; have [y E] := rows_attained weight level_of (fun=> 0) (replaced c c').
exists y; rewrite E; congr (_ * _); rewrite cost_alike.
  rewrite /net replaced_sums (sums_up up) (sums_up up'); congr (_ ^+ _ * _); rewrite /size_in_all -big_split; apply: eq_bigr => a _ /=.
  by rewrite /replaced; case: (disjoint a) => ->; lia.
move=> f a b tf ab; have := up a; have := up b; have := up' a; have := up' b.
by case: (apart f a b tf ab) => e; case: (apart f b a tf (esym ab)) => e'; rewrite /replaced ?e ?e' ?subr0 ?sub0r ?mulrNN; move=> *; nia.
Qed.
End Families.
