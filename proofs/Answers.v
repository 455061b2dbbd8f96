(** A ledger that answers each person once from the rows of a channel, and repeats what it has answered.

    Requests come in any order, for any persons, each chosen from all answers before it; a person's secret may be another
    one at each request. proofs/theory/ledger.md, "Each person once"; the code is `Ledger.respond`. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Answers.
Variable F : numFieldType.
Variables (person secret answer : eqType).
(** C x y: the chance of the answer y where the secret is x. *)
Variable C : secret -> answer -> F.
Hypothesis C_ge0 : forall x y, 0 <= C x y.

(** A transcript, the latest first: who was asked, and what was answered. *)
Notation transcript := (seq (person * answer)).
Implicit Types (t : transcript) (p : person).
Variable asks : transcript -> person -> F.
Hypothesis asks_ge0 : forall t p, 0 <= asks t p.
(** The secret of each person at each moment. *)
Implicit Types x z : transcript -> person -> secret.

(** Whoever has an answer gets it again; anybody else's is drawn from the row of the secret of that moment. *)
Fixpoint earlier t p : option answer :=
  if t is (q, y) :: t' then (if earlier t' p is Some a then Some a else if q == p then Some y else None) else None.
Definition reply x t p y : F := if earlier t p is Some a then (y == a)%:R else C (x t p) y.
Fixpoint answered x t : F :=
  if t is (p, y) :: t' then answered x t' * (asks t' p * reply x t' p y) else 1.

Lemma reply_ge0 x t p y : 0 <= reply x t p y.
Proof. by rewrite /reply; case: earlier => [a|]; rewrite ?ler0n. Qed.

Lemma answered_ge0 x t : 0 <= answered x t.
Proof. by elim: t => [|[p y] t IH] /=; rewrite ?ler01 // !mulr_ge0 ?reply_ge0. Qed.

(** Two worlds that differ in one person: all answers ever given tell them apart by that person's row at the first
    request alone. *)
Theorem each_person_once x z p a t :
  0 <= a <= 1 -> (forall h q, q != p -> x h q = z h q) -> (forall h y, a * C (x h p) y <= C (z h p) y) ->
  a * answered x t <= answered z t.
Proof.
move=> /andP[a0 a1] others near.
have [] : (earlier t p = None -> answered x t = answered z t) /\ a * answered x t <= answered z t; last by [].
elim: t => [|[q y] t [same IH]] /=; first by rewrite mulr1.
split.
- case E: (earlier t p) => [//|]; case: eqVneq => // qp _.
  by rewrite (same E) /reply (others t q qp).
have further R : 0 <= R -> a * (answered x t * R) <= answered z t * R by move=> R0; rewrite mulrA ler_wpmul2r.
have [->|qp] := eqVneq q p; last first.
  have -> : reply x t q y = reply z t q y by rewrite /reply (others t q qp).
  by apply: further; rewrite mulr_ge0 ?reply_ge0.
case E: (earlier t p) => [b|]; first by rewrite /reply E; apply: further; rewrite mulr_ge0 ?ler0n.
rewrite (same E) mulrCA ler_wpmul2l ?answered_ge0 // mulrCA ler_wpmul2l //.
by rewrite /reply E.
Qed.
End Answers.
