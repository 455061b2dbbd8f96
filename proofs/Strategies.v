(** What a strategy of integer rows costs, exactly: independent geometric noise on every row, at a level of its own.

    Rows are vectors w_i of integers over n cells, alpha_i = exp(-epsilon_i) is the level of row i, and a contribution d
    is what one individual adds to the cells. The release divides no chance by more than the product of
    alpha_i^-|w_i d|, and some chance by exactly that. So for any set of contributions the level that is kept is the
    largest sum of epsilon_i |w_i d| over the set, and no smaller one. proofs/theory/workloads.md, "The model". *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Sums Geometric Release.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Strategy.
Variable F : archiFieldType.
Variables (n : nat) (rows : finType) (w : rows -> 'I_n -> int) (alpha : rows -> F).
Hypothesis alpha01 : forall i, 0 < alpha i < 1.
Implicit Types (x d : 'I_n -> int) (y : rows -> int).

(** The value of a row, and what all rows say with noise on each. *)
Definition row_value x (i : rows) : int := \sum_c w i c * x c.
Definition distribution x y : F := \prod_i tsg (alpha i) (y i - row_value x i).
Definition moved x d c : int := x c + d c.

(** exp(-charge) of one contribution. *)
Definition charge d : F := \prod_i alpha i ^+ `|row_value d i|%N.

Lemma row_moved x d i : row_value (moved x d) i = row_value x i + row_value d i.
Proof. by rewrite /row_value -big_split /=; apply: eq_bigr => c _; rewrite /moved mulrDr. Qed.

Lemma distribution_gt0 x y : 0 < distribution x y.
Proof. by apply: prodr_gt0 => i _; apply: tsg_gt0. Qed.

Theorem rows_private x d y : charge d * distribution x y <= distribution (moved x d) y.
Proof.
rewrite /charge /distribution -big_split /=; apply: ler_prod => i _; have /andP[a0 a1] := alpha01 i.
rewrite mulr_ge0 ?exprn_ge0 ?(ltW a0) ?(ltW (tsg_gt0 _ (alpha01 i))) //=.
by rewrite row_moved opprD addrA; apply: tsg_private; rewrite (ltW a0) a1.
Qed.

(** The outcome where every row says its true value. *)
Theorem rows_attained x d : exists y, distribution (moved x d) y = charge d * distribution x y.
Proof.
exists (row_value x); rewrite /charge /distribution -big_split /=; apply: eq_bigr => i _.
by rewrite row_moved opprD addrA subrr tsg_attained.
Qed.

(** A level holds for all contributions of a set exactly if it is at least the charge of each. *)
Theorem charge_exact (contributions : ('I_n -> int) -> Prop) (bound : F) :
  (forall d, contributions d -> forall x y, bound * distribution x y <= distribution (moved x d) y) <->
  (forall d, contributions d -> bound <= charge d).
Proof.
split=> H d cd.
  have [y E] := rows_attained (fun=> 0) d; have := H d cd (fun=> 0) y.
  by rewrite E ler_pmul2r // distribution_gt0.
by move=> x y; apply: le_trans (rows_private x d y); rewrite ler_pmul2r ?distribution_gt0 ?H.
Qed.
End Strategy.

(** * Rows that are relaxed

    Each row has a chain of its own, and the requester sees all rows. Whatever is asked for in whatever order, all
    answers together cost the charge of the highest levels. *)
Section Relaxed.
Variable F : archiFieldType.
Variables (n : nat) (rows : finType) (w : rows -> 'I_n -> int) (share : rows -> F -> F) (highest : rows -> F).
Variable asks : seq (F * (rows -> int)) -> F -> F.
Hypothesis asks_ge0 : forall h x, 0 <= asks h x.
Implicit Types (x d : 'I_n -> int).

Theorem relaxed_private x d (t : seq (F * (rows -> int))) :
  (forall i, proper (row share t i)) -> (forall i, 0 <= highest i <= 1) ->
  (forall i p, p \in row share t i -> highest i <= p.1) ->
  charge w highest d * chances share asks (row_value w x) t <= chances share asks (row_value w (moved x d)) t.
Proof.
move=> pt l01 least; have := one_requester asks_ge0 (row_value w x) (row_value w (moved x d)) pt l01 least.
rewrite /charge; under eq_bigr do rewrite row_moved.
by under [X in X * _ <= _ -> _]eq_bigr do rewrite opprD addrA subrr sub0r abszN.
Qed.
End Relaxed.
