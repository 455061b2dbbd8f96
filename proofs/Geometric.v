(** Two-sided geometric noise, and the tightening step that leads from a higher level to a lower one.

    A level is written as its alpha = exp(-epsilon), in [0, 1). Alpha 0 stands for epsilon = infinity: no noise at all.
    This is proofs/theory/gradual-release.md; the code is src/utmost/core/gradual/steps.py. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Sums.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Geometric.
Variable F : archiFieldType.
Implicit Types (a b c x : F) (j k : int).

(** TSG(a), the distribution of geometric noise: P(k) = (1-a)/(1+a) a^|k|. *)
Definition tsg a k : F := (1 - a) / (1 + a) * a ^+ `|k|%N.

(** Tightening from b to a: it certainly stays with chance [stay b a], and is TSG(a) otherwise. These are `staying` and
    `Tightening.pmf` of the code. *)
Definition stay b a : F := b / a * ((1 - a) / (1 - b)) ^+ 2.
Definition tighten b a k : F := (if k == 0 then stay b a else 0) + (1 - stay b a) * tsg a k.

Lemma tsgN a k : tsg a (- k) = tsg a k. Proof. by rewrite /tsg abszN. Qed.
Lemma tightenN b a k : tighten b a (- k) = tighten b a k.
Proof. by rewrite /tighten tsgN oppr_eq0. Qed.

(** From alpha 0, where nothing was added yet, tightening adds the noise itself. *)
Lemma tighten0 a k : tighten 0 a k = tsg a k.
Proof. by rewrite /tighten /stay !mul0r; case: ifP; rewrite add0r subr0 mul1r. Qed.

Lemma tsg_gt0 a k : 0 < a < 1 -> 0 < tsg a k.
Proof.
move=> /andP[a0 a1]; rewrite mulr_gt0 ?exprn_gt0 // divr_gt0 ?subr_gt0 //.
by rewrite addr_gt0 ?ltr01.
Qed.

Lemma tsg_ge0 a k : 0 <= a < 1 -> 0 <= tsg a k.
Proof.
move=> /andP[a0 a1]; rewrite mulr_ge0 ?exprn_ge0 // divr_ge0 ?subr_ge0 ?(ltW a1) //.
by rewrite addr_ge0 ?ler01.
Qed.

(** 1 - stay as a product, which shows that it is positive: `changing` of the code. *)
Lemma changing b a : 0 < a < 1 -> 0 <= b < 1 ->
  1 - stay b a = (1 - a * b) * (a - b) / (a * (1 - b) ^+ 2).
Proof.
move=> /andP[a0 a1] /andP[b0 b1]; rewrite /stay; field.
by rewrite !gt_eqF // subr_gt0.
Qed.

Lemma stay_ge0 b a : 0 < a < 1 -> 0 <= b < 1 -> 0 <= stay b a.
Proof. by move=> /andP[a0 _] /andP[b0 _]; rewrite mulr_ge0 ?sqr_ge0 // divr_ge0 // ltW. Qed.

Lemma changing_gt0 b a : 0 <= b -> b < a -> a < 1 -> 0 < 1 - stay b a.
Proof.
move=> b0 ba a1; have a0 := le_lt_trans b0 ba; have b1 := lt_trans ba a1.
rewrite changing ?a0 ?b0 // divr_gt0 ?mulr_gt0 ?subr_gt0 ?exprn_gt0 ?subr_gt0 //.
by apply: le_lt_trans (_ : 1 * b < 1); rewrite ?ler_wpmul2r ?mul1r ?(ltW a1).
Qed.

Lemma tighten_gt0 b a k : 0 <= b -> b < a -> a < 1 -> 0 < tighten b a k.
Proof.
move=> b0 ba a1; have a0 := le_lt_trans b0 ba; have b1 := lt_trans ba a1.
rewrite ltr_paddl //; first by case: ifP => // _; rewrite stay_ge0 ?a0 ?b0.
by rewrite mulr_gt0 ?changing_gt0 ?tsg_gt0 ?a0.
Qed.

(** * 1. Noise has mass 1 *)
Lemma tsg_window a N : 0 <= a < 1 -> sum_in (tsg a) (window N) = 1 - 2%:R * a ^+ N.+1 / (1 + a).
Proof.
move=> /andP[a0 a1]; have n0 : 1 + a != 0 by rewrite gt_eqF // ltr_paddr ?ltr01.
elim: N => [|N IH].
  by rewrite /sum_in big_seq1 /tsg absz0 expr0 expr1; field.
rewrite sum_windowS IH tsgN /tsg absz_nat !exprS; move: (a ^+ N) => X; field.
exact: n0.
Qed.

Theorem tsg_sums a : 0 <= a < 1 -> sums_to (tsg a) 1.
Proof.
move=> a01; have /andP[a0 a1] := a01.
have p0 : 0 < 1 + a by rewrite ltr_paddr ?ltr01.
apply: (@sums_to_tail _ _ _ 2%:R a 0%N) => //; first by move=> j; apply: tsg_ge0.
move=> N; rewrite add0n tsg_window //.
have t0 : 0 <= 2%:R * a ^+ N.+1 / (1 + a) by apply: divr_ge0 (ltW p0); rewrite mulr_ge0 ?ler0n ?exprn_ge0.
split; first by rewrite ler_subl_addr ler_addl.
rewrite addrAC -addrA ler_addl subr_ge0 ler_pdivr_mulr // exprS -mulrA ler_pmul2l ?ltr0n //.
rewrite mulrC ler_wpmul2l ?exprn_ge0 //.
by apply: le_trans (ltW a1) _; rewrite ler_addl.
Qed.

(** * 2. It keeps its level: a shift by d divides no probability by more than a^-|d|, and divides one by exactly that *)
Theorem tsg_private a k d : 0 <= a < 1 -> a ^+ `|d|%N * tsg a k <= tsg a (k - d).
Proof.
move=> /andP[a0 a1]; rewrite /tsg mulrCA ler_wpmul2l //.
  by rewrite divr_ge0 ?subr_ge0 ?(ltW a1) // addr_ge0 ?ler01.
rewrite -exprD; apply: ler_wiexpn2l; [by []|exact: ltW|lia].
Qed.

Theorem tsg_attained a d : tsg a (0 - d) = a ^+ `|d|%N * tsg a 0.
Proof. by rewrite /tsg sub0r abszN absz0 expr0 mulr1 mulrC. Qed.

(** * 3. Two tightening steps are one

    From c to b and on from b to a has the distribution of the step from c to a. At c = 0: noise of level b, tightened, is noise
    of level a, so a response that was tightened has the distribution that it would have had alone. *)

(** The sum behind the convolution: b^|j| a^|n-j| over a window, first for N <= n, then for all. *)
Definition mixed b a (n : nat) j : F := b ^+ `|j|%N * a ^+ `|n%:Z - j|%N.

Lemma mixed_scale b a n N : (N <= n)%N ->
  sum_in (mixed b a n.+1) (window N) = a * sum_in (mixed b a n) (window N).
Proof.
move=> Nn; rewrite /sum_in mulr_sumr; apply: eq_big_seq => j; rewrite mem_window => jN.
by rewrite /mixed mulrCA -exprS; congr (_ * _ ^+ _); lia.
Qed.

Lemma mixed_square b a n : 0 <= b -> b < a -> a < 1 ->
  sum_in (mixed b a n) (window n) =
  (a ^+ n.+1 - b ^+ n.+1) / (a - b) + a * b * a ^+ n * (1 - (a * b) ^+ n) / (1 - a * b).
Proof.
move=> b0 ba a1; have a0 := le_lt_trans b0 ba; have b1 := lt_trans ba a1.
have ab : a - b != 0 by rewrite gt_eqF // subr_gt0.
have ab1 : 1 - a * b != 0.
  rewrite gt_eqF // subr_gt0; apply: le_lt_trans (_ : 1 * b < 1); rewrite ?ler_wpmul2r ?mul1r ?(ltW a1) //.
elim: n => [|n IH].
  by rewrite /sum_in big_seq1 /mixed /= !expr0 !expr1; field; rewrite ab ab1.
rewrite sum_windowS mixed_scale // IH /mixed.
have -> : `|n.+1%:Z - n.+1%:Z|%N = 0%N by lia.
have -> : `|n.+1%:Z - - n.+1%:Z|%N = (n.+1 + n.+1)%N by lia.
rewrite abszN absz_nat expr0 exprD !exprS exprMn; move: (a ^+ n) (b ^+ n) => A B; field.
by rewrite ab ab1.
Qed.

Lemma mixed_window b a n M : 0 <= b -> b < a -> a < 1 ->
  sum_in (mixed b a n) (window (n + M)) =
  (a ^+ n.+1 - b ^+ n.+1) / (a - b)
  + a * b / (1 - a * b) * (a ^+ n + b ^+ n - (b ^+ n + a ^+ n * (a * b) ^+ n) * (a * b) ^+ M).
Proof.
move=> b0 ba a1; have a0 := le_lt_trans b0 ba; have b1 := lt_trans ba a1.
have ab : a - b != 0 by rewrite gt_eqF // subr_gt0.
have ab1 : 1 - a * b != 0.
  rewrite gt_eqF // subr_gt0; apply: le_lt_trans (_ : 1 * b < 1); rewrite ?ler_wpmul2r ?mul1r ?(ltW a1) //.
elim: M => [|M IH].
  by rewrite addn0 mixed_square // expr0; field; rewrite ab ab1.
rewrite addnS sum_windowS IH /mixed abszN absz_nat.
have -> : `|n%:Z - (n + M).+1%:Z|%N = M.+1 by lia.
have -> : `|n%:Z - - (n + M).+1%:Z|%N = (n + n + M).+1 by lia.
rewrite !exprMn !exprS !exprD; move: (a ^+ n) (b ^+ n) (a ^+ M) (b ^+ M) => A B A' B'; field.
by rewrite ab ab1.
Qed.

(** What the convolution lacks when it is summed over the window alone, in closed form. *)
Definition step b a : F := (1 - stay b a) * ((1 - a) / (1 + a)).
Definition lack c b a (n M : nat) : F :=
  step c b * step b a * (a * b) / (1 - a * b) * (b ^+ n + a ^+ n * (a * b) ^+ n) * (a * b) ^+ M.

Lemma sum_delta (f : int -> F) (p : int) (x : F) N : (`|p| <= N)%N ->
  sum_in (fun j => (if j == p then x else 0) * f j) (window N) = x * f p.
Proof.
move=> pN; rewrite /sum_in (bigD1_seq p) ?uniq_window ?mem_window //= eqxx big1 ?addr0 // => j /negbTE ->.
by rewrite mul0r.
Qed.

Lemma chain_window c b a n M : 0 <= c -> c < b -> b < a -> a < 1 ->
  sum_in (fun j => tighten c b j * tighten b a (n%:Z - j)) (window (n + M)) = tighten c a n%:Z - lack c b a n M.
Proof.
move=> c0 cb ba a1; have b0 := le_lt_trans c0 cb; have a0 := lt_trans b0 ba; have b1 := lt_trans ba a1.
have c1 := lt_trans cb b1; have ca := lt_trans cb ba.
have E j : tighten c b j * tighten b a (n%:Z - j) =
  (if j == 0 then stay c b else 0) * tighten b a (n%:Z - j)
  + ((if j == n%:Z then stay b a else 0) * (step c b * b ^+ `|j|%N) + step c b * step b a * mixed b a n j).
  rewrite /tighten /tsg /mixed /step subr_eq0 [n%:Z == j]eq_sym.
  by move: (b ^+ `|j|%N) (a ^+ `|n%:Z - j|%N) => B A; case: (j == n%:Z); case: (j == 0); ring.
rewrite /sum_in; under eq_bigr do rewrite E; rewrite !big_split /= -mulr_sumr.
have := sum_delta (fun j => tighten b a (n%:Z - j)) (stay c b) (_ : `|0%:Z| <= n + M)%N; rewrite /sum_in => -> //.
have := sum_delta (fun j => step c b * b ^+ `|j|%N) (stay b a) (_ : `|n%:Z| <= n + M)%N; rewrite /sum_in => -> //; last by lia.
have := mixed_window n M (ltW b0) ba a1; rewrite /sum_in => ->.
rewrite subr0 /lack /step /tighten /tsg absz_nat !exprS.
have -> : (if n%:Z == 0 :> int then stay b a else 0) = (n%:Z == 0 :> int)%:R * stay b a by case: ifP; rewrite ?mul1r ?mul0r.
have -> : (if n%:Z == 0 :> int then stay c a else 0) = (n%:Z == 0 :> int)%:R * stay c a by case: ifP; rewrite ?mul1r ?mul0r.
rewrite /stay; move: (a ^+ n) (b ^+ n) ((a * b) ^+ n) ((a * b) ^+ M) ((n%:Z == 0 :> int)%:R : F) => A B AB X D.
field.
have p x : 0 < x -> 1 + x != 0 by move=> x0; rewrite gt_eqF // addr_gt0 ?ltr01.
have m x : x < 1 -> 1 - x != 0 by move=> x1; rewrite gt_eqF // subr_gt0.
have ab1 : a * b < 1 by apply: le_lt_trans (_ : 1 * b < 1); rewrite ?ler_wpmul2r ?mul1r ?(ltW a1) // ltW.
have ab : a - b != 0 by rewrite gt_eqF // subr_gt0.
by rewrite (m _ ab1) (p _ a0) (m _ b1) (p _ b0) (m _ c1) ab (gt_eqF a0) (gt_eqF b0).
Qed.

Lemma sum_window_opp (f : int -> F) N : sum_in (fun j => f (- j)) (window N) = sum_in f (window N).
Proof.
elim: N => [|N IH]; first by rewrite /sum_in !big_seq1 oppr0.
by rewrite !sum_windowS IH opprK [X in X + _]addrC.
Qed.

Theorem tighten_chain c b a k : 0 <= c -> c < b -> b < a -> a < 1 ->
  sums_to (fun j => tighten c b j * tighten b a (k - j)) (tighten c a k).
Proof.
move=> c0 cb ba a1; have b0 := le_lt_trans c0 cb; have a0 := lt_trans b0 ba; have b1 := lt_trans ba a1.
have [n kn] : exists n, k = n%:Z \/ k = - n%:Z by exists `|k|%N; lia.
have W M : sum_in (fun j => tighten c b j * tighten b a (k - j)) (window (n + M)) = tighten c a k - lack c b a n M.
  case: kn => ->; first exact: chain_window.
  rewrite -sum_window_opp tightenN -(chain_window n M c0 cb ba a1); apply: eq_bigr => j _.
  by rewrite tightenN; congr (_ * _); rewrite -tightenN; congr (tighten _ _ _); lia.
have ab01 : 0 <= a * b < 1.
  apply/andP; split; first by rewrite mulr_ge0 // ltW.
  by apply: le_lt_trans b1; rewrite ler_pimull // ltW.
have C0 : 0 <= step c b * step b a * (a * b) / (1 - a * b) * (b ^+ n + a ^+ n * (a * b) ^+ n).
  have st x y : 0 <= x -> x < y -> y < 1 -> 0 <= step x y.
    move=> x0 xy y1; have y0 := le_lt_trans x0 xy.
    by rewrite mulr_ge0 ?(ltW (changing_gt0 _ _ _)) // divr_ge0 ?subr_ge0 ?(ltW y1) // addr_ge0 ?ler01 ?(ltW y0).
  have /andP[q0 q1] := ab01.
  apply: mulr_ge0; last by rewrite addr_ge0 ?mulr_ge0 ?exprn_ge0 // ltW.
  apply: divr_ge0; last by rewrite subr_ge0 ltW.
  by apply: mulr_ge0 => //; apply: mulr_ge0; apply: st => //; apply: ltW.
apply: (sums_to_tail (q := a * b) (M := n) _ ab01 C0) => [j|M].
  by rewrite mulr_ge0 // ltW // tighten_gt0 // ltW.
rewrite W subrK lexx ler_subl_addr ler_addl; split=> //.
by rewrite mulr_ge0 // exprn_ge0 //; case/andP: ab01.
Qed.

(** Noise of the higher level plus an independent tightening step is noise of the lower level. *)
Corollary tighten_distribution b a k : 0 < b -> b < a -> a < 1 ->
  sums_to (fun j => tsg b j * tighten b a (k - j)) (tsg a k).
Proof.
move=> b0 ba a1; rewrite -tighten0; apply: eq_sums_to (tighten_chain k (lexx 0) b0 ba a1) => j.
by rewrite tighten0.
Qed.

(** A tightening step has mass 1. *)
Theorem tighten_sums b a : 0 <= b -> b < a -> a < 1 -> sums_to (tighten b a) 1.
Proof.
move=> b0 ba a1; have a0 := le_lt_trans b0 ba; have b1 := lt_trans ba a1.
have -> : 1 = stay b a + (1 - stay b a) * 1 by ring.
apply: sums_to_bump; [|by rewrite stay_ge0 ?a0 ?b0|].
  by move=> j; rewrite mulr_ge0 ?(ltW (changing_gt0 _ _ _)) // tsg_ge0 // (ltW a0).
by apply: sums_to_scale; [apply: changing_gt0|apply: tsg_sums; rewrite (ltW a0)].
Qed.

End Geometric.
