(** Counting people: what one person changes in a counted table, as proofs/theory/counting.md says it.

    For any key and any hash, adding or removing one person changes at most min(k, n) of the n cells, each by at most
    s = max(|l|, |h|), and the table by at most s min(k, n) in the sum of absolute changes. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Counting.
Variables (n k : nat) (l h : int).
(** A person is anything: name, events, all of them. Nothing is assumed of what their events in a cell add up to. *)
Variables (person : eqType) (total : person -> 'I_n -> int).
(** Whether a person has an event in a cell, and the order in which their cells are selected: hash first, then the number of
    the cell. The order may be any relation, so the hash may be constant, and the key public. *)
Variables (has_event : person -> 'I_n -> bool) (before : person -> rel 'I_n).

(** Step 1, clip. *)
Definition clipped p a : int := if has_event p a then Num.min h (Num.max l (total p a)) else 0.
(** Step 2, keep: the first k of the cells that are not 0. *)
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

(** The cells in which two tables differ. *)
Definition differs (f g : 'I_n -> int) : seq 'I_n := [seq a <- enum 'I_n | f a != g a].

Lemma table_with before_ after p a : table (before_ ++ p :: after) a = table (before_ ++ after) a + part p a.
Proof. by rewrite /table !big_cat big_cons /=; ring. Qed.

Theorem few_cells before_ after p :
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

(** * Replacing a person: change-one

    A replacement is a removal and an addition, and costs both: twice the cells, twice the sum. *)
Lemma table_replaced before_ after p q a :
  table (before_ ++ p :: after) a - table (before_ ++ q :: after) a = part p a - part q a.
Proof. by rewrite !table_with; ring. Qed.

Lemma sum_part p : \sum_a `|part p a| <= most *+ minn k n.
Proof.
have := unit_of_privacy [::] [::] p; under eq_bigr do rewrite table_with addrC addKr.
by [].
Qed.

Theorem replaced_cells before_ after p q :
  (size (differs (table (before_ ++ p :: after)) (table (before_ ++ q :: after))) <= minn (2 * k) n)%N.
Proof.
rewrite leq_min; apply/andP; split; last first.
  by rewrite size_filter (leq_trans (count_size _ _)) // size_enum_ord.
have both : (size (selected p ++ selected q) <= 2 * k)%N.
  rewrite size_cat; have := size_selected p; have := size_selected q; lia.
apply: leq_trans both; apply: uniq_leq_size; first by rewrite filter_uniq // enum_uniq.
move=> a; rewrite mem_filter mem_cat => /andP[+ _]; apply: contraNT; rewrite negb_or => /andP[/negbTE ap /negbTE aq].
by rewrite -subr_eq0 table_replaced /part ap aq subrr.
Qed.

Theorem replaced_unit before_ after p q :
  \sum_a `|table (before_ ++ p :: after) a - table (before_ ++ q :: after) a| <= most *+ (2 * minn k n).
Proof.
under eq_bigr do rewrite table_replaced.
apply: le_trans (_ : \sum_a (`|part p a| + `|part q a|) <= _); first by apply: ler_sum => a _; apply: ler_norm_sub.
by rewrite big_split /= mul2n -addnn mulrnDr ler_add ?sum_part.
Qed.
End Counting.

(** * Parts that share nobody

    Each person is put into one part, by a function of what is known of that person alone; a part is counted as above. *)
Section Parts.
Variables (n k : nat) (l h : int) (person part_name : eqType).
Variables (total : person -> 'I_n -> int) (has_event : person -> 'I_n -> bool) (before : person -> rel 'I_n).
Variable chosen : person -> part_name.

Definition part_table (j : part_name) (people : seq person) : 'I_n -> int :=
  table k l h total has_event before [seq p <- people | chosen p == j].

Theorem parts_share_nobody before_ after p j :
  j != chosen p -> part_table j (before_ ++ p :: after) =1 part_table j (before_ ++ after).
Proof. by move=> jp a; rewrite /part_table !filter_cat /= eq_sym (negbTE jp). Qed.

(** And in the part of a person, that person changes what a table of its own would change. *)
Theorem own_part before_ after p :
  \sum_a `|part_table (chosen p) (before_ ++ p :: after) a - part_table (chosen p) (before_ ++ after) a|
  <= most l h *+ minn k n.
Proof. by rewrite /part_table !filter_cat /= eqxx; apply: unit_of_privacy. Qed.
End Parts.
