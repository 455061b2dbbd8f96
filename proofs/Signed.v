(** Signed sums of cells that one individual raises together: proofs/theory/cells-together.md.

    One individual changes each of n cells by 0 to s. What integer rows with geometric noise lose to such a change is
    largest at a corner, where each cell changes by 0 or by s: so 2^n charges, which a statement lists, are all. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Sums Geometric Release Strategies.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Corners.
Variable F : archiFieldType.
Variables (n s : nat) (rows : finType) (w : rows -> 'I_n -> int) (alpha : rows -> F).
Hypothesis s_gt0 : (0 < s)%N.
Hypothesis alpha01 : forall i, 0 < alpha i < 1.
Implicit Types d c : 'I_n -> int.

Definition inside d : Prop := forall a, 0 <= d a <= s%:Z.
Definition corner c : Prop := forall a, c a = 0 \/ c a = s%:Z.

(** The same change, but in cell a another one. *)
Definition with_cell d a v b : int := if b == a then v else d b.

Lemma row_with d a v i : row_value w (with_cell d a v) i = row_value w d i + w i a * (v - d a).
Proof.
rewrite /row_value (bigD1 a) //= [\sum_c w i c * d c](bigD1 a) //= {1}/with_cell eqxx.
have -> : \sum_(b < n | b != a) w i b * with_cell d a v b = \sum_(b < n | b != a) w i b * d b.
  by apply: eq_bigr => b /negbTE; rewrite /with_cell => ->.
by rewrite mulrBr [RHS]addrC addrA subrK.
Qed.

(** Along one cell the loss is convex: s times it at t is at most (s - t) times that at 0 and t times that at s. *)
Lemma convex d a : 0 <= d a <= s%:Z ->
  charge w alpha (with_cell d a 0) ^+ (s - `|d a|) * charge w alpha (with_cell d a s%:Z) ^+ `|d a|
  <= charge w alpha d ^+ s.
Proof.
move=> /andP[d0 ds]; rewrite /charge -!prodrXl -big_split /=; apply: ler_prod => i _.
have /andP[a0 a1] := alpha01 i; rewrite mulr_ge0 ?exprn_ge0 ?(ltW a0) //= -!exprM -exprD ler_wiexpn2l ?(ltW a0) ?(ltW a1) //.
rewrite !row_with; move: (row_value w d i) (w i a) => r v.
have -> : d a = `|d a|%N%:Z by lia.
have ts : (`|d a| <= s)%N by lia.
move: (`|d a|%N) ts => t ts; rewrite sub0r.
have e : s%:Z * r = (s - t)%N%:Z * (r + v * - t%:Z) + t%:Z * (r + v * (s%:Z - t%:Z)).
  by rewrite -subzn //; ring.
rewrite [(`|r| * s)%N]mulnC -[X in (X * _)%N]absz_nat -abszM e.
have triangle (u z : int) : (`|(u + z)%R| <= `|u| + `|z|)%N by lia.
by apply: leq_trans (triangle _ _) _; rewrite !abszM !absz_nat [X in (X + _ <= _)%N]mulnC [X in (_ + X <= _)%N]mulnC.
Qed.

Theorem corners_enough bound : (forall c, corner c -> bound <= charge w alpha c) ->
  forall d, inside d -> bound <= charge w alpha d.
Proof.
have gt0 d : 0 < charge w alpha d.
  by apply: prodr_gt0 => i _; have /andP[a0 _] := alpha01 i; rewrite exprn_gt0.
move=> at_corners d; case: (leP bound 0) => [b0 _|b0]; first exact: le_trans b0 (ltW (gt0 d)).
suff H : forall m d, inside d -> (forall a : 'I_n, (m <= a)%N -> d a = 0 \/ d a = s%:Z) -> bound <= charge w alpha d.
  by move=> ins; apply: (H n) => // a; rewrite leqNgt ltn_ord.
elim=> [|m IH] {}d ins out; first by apply: at_corners => a; apply: out.
case: (ltnP m n) => mn; last by apply: IH => // a ma; apply: out; have := ltn_ord a; lia.
pose a := Ordinal mn; have da := ins a.
have ends v : v = 0 \/ v = s%:Z -> bound <= charge w alpha (with_cell d a v).
  move=> ve; apply: IH => b; rewrite /with_cell; case: eqP => [_|ba]; first by case: ve => ->; lia.
  - exact: ins.
  - by [].
  by move=> mb; apply: out; have : (b : nat) <> m by [move=> e; apply: ba; apply: val_inj]; lia.
rewrite -(ler_pexpn2r s_gt0) ?nnegrE ?(ltW b0) ?(ltW (gt0 d)) //; apply: le_trans (convex da).
have -> : bound ^+ s = bound ^+ (s - `|d a|) * bound ^+ `|d a| by rewrite -exprD; congr (_ ^+ _); lia.
have below v t : v = 0 \/ v = s%:Z -> bound ^+ t <= charge w alpha (with_cell d a v) ^+ t.
  by move=> ve; rewrite ler_expn2r ?nnegrE ?(ltW b0) ?(ltW (gt0 _)) ?ends.
by apply: ler_pmul; rewrite ?exprn_ge0 ?(ltW b0) // below //; [left | right].
Qed.

(** So the level of the release is decided by its corners, exactly. *)
Theorem signed_exact bound :
  (forall d, inside d -> forall x y, bound * distribution w alpha x y <= distribution w alpha (moved x d) y) <->
  (forall c, corner c -> bound <= charge w alpha c).
Proof.
split=> [H|at_corners]; last first.
  by have [_ H] := charge_exact w alpha01 inside bound; apply: H => d; apply: corners_enough.
move=> c cc; have [+ _] := charge_exact w alpha01 inside bound; apply=> // a.
by case: (cc a) => ->; lia.
Qed.
End Corners.
