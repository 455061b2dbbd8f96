(** A bound on all that one person does: the comb of proofs/theory/counting.md, "A bound in all".

    The sizes of a person's kept cells stand in a row in the order of the cells. Where they add up to more than P, a comb
    of P teeth at equal distances is laid on them, its beginning drawn by a mark of the person, and each cell keeps what
    teeth fall on it. Then the table changes by at most P in the sum of absolute changes. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Counting.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** The teeth that fall on the first c of T places, of P teeth in all that begin at u/P. *)
Definition teeth (P T u c : nat) : nat := ((P * c + u) %/ T)%N.

(** What a cell keeps that has v of T places, with c places before it. *)
Definition combed_size (P T u c v : nat) : nat :=
  if (T <= P)%N then v else (teeth P T u (c + v) - teeth P T u c)%N.

Section InAll.
Variables (n k P : nat) (l h : int) (person : eqType) (total : person -> 'I_n -> int).
Variables (has_event : person -> 'I_n -> bool) (before : person -> rel 'I_n).
(** A mark of each person, below a number of marks: 2^64 in the code. Nothing else is assumed of it. *)
Variables (marks : nat) (mark : person -> nat).
Hypothesis mark_below : forall p, (mark p < marks)%N.

Notation part := (part k l h total has_event before).
Notation selected := (selected k l h total has_event before).

Definition size_of p a : nat := `|part p a|%N.
Definition in_total p : nat := (\sum_a size_of p a)%N.
Definition before_it p (i : nat) : nat := (\sum_(a < n | (a < i)%N) size_of p a)%N.
Definition begins p : nat := ((mark p * in_total p) %/ marks)%N.
Definition kept p (a : 'I_n) : nat := combed_size P (in_total p) (begins p) (before_it p a) (size_of p a).
Definition combed (people : seq person) a : int := \sum_(p <- people) Num.sg (part p a) * (kept p a)%:Z.

Lemma begins_below p : (0 < in_total p)%N -> (begins p < in_total p)%N.
Proof.
move=> T0; rewrite /begins ltn_divLR ?(leq_ltn_trans _ (mark_below p)) // [X in (_ < X)%N]mulnC.
by rewrite ltn_mul2r T0 mark_below.
Qed.

Lemma before_next p (a : 'I_n) : before_it p a.+1 = (before_it p a + size_of p a)%N.
Proof.
rewrite /before_it (bigD1 a) //= addnC; congr (_ + _)%N; apply: eq_bigl => b; rewrite -val_eqE /=; lia.
Qed.

Lemma before_first p : before_it p 0 = 0%N.
Proof. by rewrite /before_it big_pred0. Qed.

Lemma before_last p : before_it p n = in_total p.
Proof. by apply: eq_bigl => a; rewrite ltn_ord. Qed.

Lemma kept_small p a : (kept p a <= size_of p a)%N.
Proof.
rewrite /kept /combed_size; case: (leqP (in_total p) P) => [_|PT]; first exact: leqnn.
rewrite leq_subLR /teeth.
have T0 : (0 < in_total p)%N by lia.
rewrite [X in (_ <= X)%N]addnC -(divnMDl _ _ T0); apply: leq_div2r.
have : (P * size_of p a <= size_of p a * in_total p)%N by rewrite [X in (_ <= X)%N]mulnC leq_mul2r ltnW ?orbT.
rewrite mulnDr; lia.
Qed.

(** Whoever has more than P keeps exactly P. *)
Theorem comb_exact p : (P < in_total p)%N -> (\sum_a kept p a)%N = P.
Proof.
move=> PT; have T0 : (0 < in_total p)%N by lia.
pose f i := teeth P (in_total p) (begins p) (before_it p i).
have up : {homo f : x y / (x <= y)%N}.
  move=> x y xy; apply: leq_div2r; rewrite leq_add2r leq_mul2l; apply/orP; right.
  rewrite /before_it [X in (_ <= X)%N](bigID (fun a : 'I_n => (a < x)%N)) /=.
  by apply: leq_trans (leq_addr _ _); rewrite leq_eqVlt; apply/orP; left; apply/eqP/eq_bigl => a; lia.
have E : forall a : 'I_n, kept p a = (f a.+1 - f a)%N.
  by move=> a; rewrite /kept /combed_size leqNgt PT /f before_next.
rewrite (eq_bigr (fun a : 'I_n => f a.+1 - f a)%N) => [|a _]; last exact: E.
rewrite -(big_mkord xpredT (fun i => f i.+1 - f i)%N) telescope_sumn //= /f before_last before_first /teeth.
by rewrite muln0 add0n divnMDl // !divn_small ?begins_below // addn0 subn0.
Qed.

Lemma kept_in_all p : (\sum_a kept p a <= P)%N.
Proof.
case: (leqP (in_total p) P) => TP; last by rewrite comb_exact.
by apply: leq_trans TP; apply: leq_sum => a _; apply: kept_small.
Qed.

Lemma combed_with before_ after p a :
  `|combed (before_ ++ p :: after) a - combed (before_ ++ after) a|%N = kept p a.
Proof.
rewrite /combed !big_cat big_cons /=.
set u := \sum_(_ <- before_) _; set v := \sum_(_ <- after) _; set d := Num.sg _ * _.
have -> : u + (d + v) - (u + v) = d by ring.
rewrite /d abszM; have := kept_small p a; rewrite /size_of.
case: (part p a =P 0) => [-> | /eqP d0]; first by rewrite absz0 leqn0 => /eqP ->; rewrite muln0.
by rewrite absz_sg d0 mul1n.
Qed.

Theorem bounded_in_all before_ after p :
  (\sum_a `|combed (before_ ++ p :: after) a - combed (before_ ++ after) a| <= P)%N.
Proof. by under eq_bigr do rewrite combed_with; apply: kept_in_all. Qed.

(** No cell changes by more than it did, so by no more than s; and no more cells change, nor more than P. *)
Theorem bounded_each before_ after p a :
  `|combed (before_ ++ p :: after) a - combed (before_ ++ after) a|%N%:Z <= most l h.
Proof.
rewrite combed_with; apply: le_trans (_ : (size_of p a)%:Z <= _); first by rewrite lez_nat kept_small.
have := little_each k l h total has_event before [::] [::] p a.
by rewrite table_with addrC addKr.
Qed.

Theorem bounded_cells before_ after p :
  (size (differs (combed (before_ ++ p :: after)) (combed (before_ ++ after))) <= minn (minn k n) P)%N.
Proof.
have E : differs (combed (before_ ++ p :: after)) (combed (before_ ++ after)) = [seq a <- enum 'I_n | kept p a != 0%N].
  by apply: eq_filter => a; rewrite -(combed_with before_ after) absz_eq0 subr_eq0.
rewrite leq_min {}E; apply/andP; split.
  apply: leq_trans (size_selected k l h total has_event before p); apply: uniq_leq_size.
    by rewrite filter_uniq // enum_uniq.
  move=> a; rewrite mem_filter => /andP[+ _]; apply: contraNT => /negbTE out.
  by rewrite -leqn0 (leq_trans (kept_small p a)) // /size_of /part out.
apply: leq_trans (kept_in_all p); rewrite size_filter -sum1_count big_enum_cond /= big_mkcond /=.
by apply: leq_sum => a _; case: (kept p a).
Qed.

(** A replacement is charged twice. *)
Theorem replaced_in_all before_ after p q :
  (\sum_a `|combed (before_ ++ p :: after) a - combed (before_ ++ q :: after) a| <= 2 * P)%N.
Proof.
apply: leq_trans (_ : \sum_a (kept p a + kept q a) <= _)%N; last first.
  by rewrite big_split mul2n -addnn leq_add ?kept_in_all.
apply: leq_sum => a _; have := combed_with before_ after p a; have := combed_with before_ after q a.
by lia.
Qed.
End InAll.
