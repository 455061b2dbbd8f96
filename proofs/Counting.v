(** Counting people: what one person changes in a counted table, as docs/theory/counting.md says it.

    For any key and any hash, adding or removing one person changes at most min(k, n) of the n atoms, each by at most
    s = max(|l|, |h|), and the table by at most s min(k, n) in the sum of absolute changes. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Counting.
Variables (n k : nat) (l h : int).
(** A person is anything: name, events, all of them. Nothing is assumed of what their events in an atom add up to. *)
Variables (person : eqType) (total : person -> 'I_n -> int).
(** Whether a person has an event in an atom, and the order in which their atoms are selected: hash first, then the number of
    the atom. The order may be any relation, so the hash may be constant, and the key public. *)
Variables (has_event : person -> 'I_n -> bool) (before : person -> rel 'I_n).

(** Step 1, clip. *)
Definition clipped p a : int := if has_event p a then Num.min h (Num.max l (total p a)) else 0.
(** Step 2, keep: the first k of the atoms that are not 0. *)
Definition selected p : seq 'I_n := take k (sort (before p) [seq a <- enum 'I_n | clipped p a != 0]).
(** Step 3, add up. *)
Definition part p a : int := if a \in selected p then clipped p a else 0.
Definition table (people : seq person) a : int := \sum_(p <- people) part p a.

Definition most : int := Num.max `|l| `|h|.

Lemma size_selected p : (size (selected p) <= minn k n)%N.
Proof.
rewrite size_take size_sort leq_min; apply/andP; split; first by case: ifP => // /negbT; rewrite -leqNgt.
have le : (size [seq a <- enum 'I_n | clipped p a != 0%R] <= n)%N.
  by rewrite size_filter (leq_trans (count_size _ _)) // size_enum_ord.
by case: ifP => // kn; apply: leq_trans (ltnW kn) le.
Qed.

Lemma uniq_selected p : uniq (selected p).
Proof. by rewrite take_uniq // sort_uniq filter_uniq // enum_uniq. Qed.

Lemma clipped_most p a : `|clipped p a| <= most.
Proof.
rewrite /clipped /most; case: ifP => _; last by rewrite normr0 le_maxr normr_ge0.
by rewrite le_maxr minEle !maxEle; move: (total p a) => t; do !case: ifP; lia.
Qed.

(** The atoms in which two tables differ. *)
Definition differs (f g : 'I_n -> int) : seq 'I_n := [seq a <- enum 'I_n | f a != g a].

Lemma table_with before_ after p a : table (before_ ++ p :: after) a = table (before_ ++ after) a + part p a.
Proof. by rewrite /table !big_cat big_cons /=; ring. Qed.

Theorem few_atoms before_ after p :
  (size (differs (table (before_ ++ p :: after)) (table (before_ ++ after))) <= minn k n)%N.
Proof.
apply: leq_trans (size_selected p); apply: uniq_leq_size; first by rewrite filter_uniq // enum_uniq.
move=> a; rewrite mem_filter table_with /part => /andP[+ _].
by case: ifP => // _; rewrite addr0 eqxx.
Qed.

Theorem little_each before_ after p a :
  `|table (before_ ++ p :: after) a - table (before_ ++ after) a| <= most.
Proof.
rewrite table_with addrC addKr /part; case: ifP => _; first exact: clipped_most.
by apply: le_trans (clipped_most p a); rewrite normr0.
Qed.

Theorem unit_of_privacy before_ after p :
  \sum_a `|table (before_ ++ p :: after) a - table (before_ ++ after) a| <= most *+ minn k n.
Proof.
have E a : `|table (before_ ++ p :: after) a - table (before_ ++ after) a| = if a \in selected p then `|clipped p a| else 0.
  by rewrite table_with addrC addKr /part; case: ifP; rewrite ?normr0.
under eq_bigr do rewrite E; rewrite -big_mkcond /= -big_uniq ?uniq_selected //=.
apply: le_trans (_ : \sum_(a <- selected p) most <= _); first by apply: ler_sum => a _; apply: clipped_most.
rewrite big_const_seq count_predT iter_addr_0; apply: ler_wpmuln2l (size_selected p).
by apply: le_trans (normr_ge0 l) _; rewrite le_maxr lexx.
Qed.
End Counting.
