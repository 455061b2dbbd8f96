(** The discrete staircase: its mass, and its level at every shift up to its period.

    Period D >= 1, step r in 1..D, ratio b = exp(-epsilon): the mass at k is one of two values within a period, falls by b
    from one period to the next, and does so r away from each multiple of D. proofs/theory/staircase.md, Theorem 12 of
    [geng2012]; the code is `DiscreteStaircase`. With r = D = 1 it is geometric noise. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Sums Geometric.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Staircase.
Variable F : archiFieldType.
Variables (b : F) (D r : nat).
Hypotheses (b0 : 0 < b) (b1 : b < 1) (r0 : (0 < r)%N) (rD : (r <= D)%N).
Implicit Types j k : int.

(** How many times the mass has fallen at k. *)
Definition fallen k : nat := ((`|k| + D - r) %/ D)%N.
(** What the powers b^fallen add up to over all integers: 2r-1 of them are 1, and 2D are b^q for each q > 0. *)
Definition total : F := (2 * r).-1%:R + (2 * D)%:R * b / (1 - b).
Definition staircase k : F := b ^+ fallen k / total.

Let D0 : (0 < D)%N := leq_trans r0 rD.
Lemma below1 : 0 < 1 - b. Proof. by rewrite subr_gt0. Qed.

Lemma total_gt0 : 0 < total.
Proof. by rewrite /total ltr_paddl ?ler0n // divr_gt0 ?below1 // mulr_gt0 ?ltr0n // muln_gt0. Qed.

Lemma staircase_gt0 k : 0 < staircase k.
Proof. by rewrite /staircase divr_gt0 ?total_gt0 // exprn_gt0. Qed.

(** Moving the value by at most D divides no chance by more than 1/b, *)
Theorem staircase_private k d : (`|d| <= D)%N -> b * staircase k <= staircase (k - d).
Proof.
move=> dD; rewrite /staircase mulrA ler_pmul2r ?invr_gt0 ?total_gt0 // -exprS.
apply: ler_wiexpn2l; [exact: ltW|exact: ltW|].
rewrite /fallen; apply: (@leq_trans ((1 * D + (`|k| + D - r)) %/ D)%N); last by rewrite divnMDl.
by apply: leq_div2r; lia.
Qed.

(** and each shift by 1 to D either way divides some chance by exactly that. *)
Theorem staircase_attained d : (0 < `|d| <= D)%N -> exists k, staircase (k - d) = b * staircase k.
Proof.
move=> /andP[d0 dD]; pose k : int := if 0 <= d then 1 - r%:Z else r%:Z - 1.
exists k; rewrite /staircase mulrA -exprS /fallen.
have -> : (`|k| + D - r = D.-1)%N by rewrite /k; case: ifP; lia.
have -> : (`|(k - d)%R| + D - r = 1 * D + `|d|.-1)%N by rewrite /k; case: ifP; lia.
by rewrite divnMDl // !divn_small //; lia.
Qed.

(** * The mass is 1: shells of 2D integers have one power of b each. *)
Let power k : F := b ^+ fallen k.

Lemma power_shell q i : (i < D)%N -> power (r + q * D + i)%N%:Z = b ^+ q.+1.
Proof.
move=> iD; rewrite /power /fallen absz_nat; have -> : (r + q * D + i + D - r = q.+1 * D + i)%N by lia.
by rewrite divnMDl // divn_small ?addn0.
Qed.

Lemma fallenN k : power (- k) = power k. Proof. by rewrite /power /fallen abszN. Qed.

Lemma inner_window n : (n < r)%N -> sum_in power (window n) = (2 * n).+1%:R.
Proof.
have p0 i : (i < r)%N -> power i%:Z = 1 by move=> ir; rewrite /power /fallen absz_nat divn_small //; lia.
elim: n => [|n IH] nr; first by rewrite /sum_in big_seq1 p0.
have -> : ((2 * n.+1).+1 = 2 + (2 * n).+1)%N by lia.
by rewrite sum_windowS IH ?(ltnW nr) // fallenN p0 // natrD.
Qed.

Lemma shell_window q i : (i <= D)%N ->
  sum_in power (window (r.-1 + q * D + i)) = sum_in power (window (r.-1 + q * D)) + (2 * i)%:R * b ^+ q.+1.
Proof.
elim: i => [|i IH] iD; first by rewrite addn0 mul0r addr0.
have E : (r.-1 + q * D + i.+1 = (r.-1 + q * D + i).+1)%N by lia.
rewrite E sum_windowS fallenN IH ?(ltnW iD) //.
have -> : ((r.-1 + q * D + i).+1 = r + q * D + i)%N by lia.
have -> : (2 * i.+1 = 2 + 2 * i)%N by lia.
by rewrite power_shell // natrD; ring.
Qed.

Lemma steps_window q : sum_in power (window (r.-1 + q * D)) = total - (2 * D)%:R * b / (1 - b) * b ^+ q.
Proof.
elim: q => [|q IH].
  rewrite mul0n addn0 inner_window ?ltn_predL // expr0 mulr1 /total addrK; congr (_%:R); lia.
have -> : (r.-1 + q.+1 * D = r.-1 + q * D + D)%N by lia.
rewrite shell_window // IH !exprS; move: (b ^+ q) => B; field.
by rewrite gt_eqF // below1.
Qed.

Theorem staircase_sums : sums_to staircase 1.
Proof.
have t0 := total_gt0; have -> : 1 = total^-1 * total by rewrite mulVf // gt_eqF.
apply: (@eq_sums_to _ (fun k => total^-1 * power k)) => [k|]; first by rewrite mulrC.
apply: sums_to_scale; first by rewrite invr_gt0.
have c0 : 0 <= (2 * D)%:R * b / (1 - b) by rewrite divr_ge0 ?(ltW below1) // mulr_ge0 ?ler0n ?(ltW b0).
apply: (@sums_to_steps _ _ _ _ b r.-1 D _ _ c0) => // [j||N].
- by rewrite exprn_ge0 // ltW.
- by rewrite (ltW b0).
- by rewrite steps_window subrK lexx ler_subl_addr ler_addl; split=> //; rewrite mulr_ge0 // exprn_ge0 // ltW.
Qed.

End Staircase.
