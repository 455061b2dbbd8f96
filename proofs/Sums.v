(** Series of nonnegative terms over the integers, without limits or analysis.

    [sums_to f x]: x is the least upper bound of the sums of f over finite sets of integers, given as lists without
    repetition. For f >= 0 this is the sum of the series, in whatever order its terms are added. The field F is any
    archimedean ordered one: the rationals, or the reals, so that a level may be exp(-epsilon). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

(** The window -N, ..., N. *)
Fixpoint window (N : nat) : seq int :=
  if N is N'.+1 then [:: N%:Z, - N%:Z & window N'] else [:: 0].

Lemma mem_window N (j : int) : (j \in window N) = (`|j| <= N)%N.
Proof.
elim: N => [|N IH]; first by rewrite inE; lia.
by rewrite /= !inE IH; lia.
Qed.

Lemma uniq_window N : uniq (window N).
Proof.
elim: N => //= N ->; rewrite andbT inE !mem_window; lia.
Qed.

Section Sums.
Variable F : archiFieldType.
Implicit Types (f g : int -> F) (x y : F).

Definition sum_in f (s : seq int) : F := \sum_(j <- s) f j.

Definition sums_to f x : Prop :=
  (forall s, uniq s -> sum_in f s <= x) /\
  (forall eps, 0 < eps -> exists2 s, uniq s & x - eps < sum_in f s).

Lemma sum_windowS f N : sum_in f (window N.+1) = f N.+1%:Z + f (- N.+1%:Z) + sum_in f (window N).
Proof. by rewrite /sum_in !big_cons addrA. Qed.

Lemma sum_in_sub f s t : (forall j, 0 <= f j) -> uniq s -> uniq t -> {subset s <= t} -> sum_in f s <= sum_in f t.
Proof.
move=> f0 us ut st; rewrite /sum_in [X in _ <= X](bigID (fun j => j \in s)) /=.
have -> : \sum_(j <- t | j \in s) f j = \sum_(j <- s) f j.
  rewrite -big_filter; apply: perm_big; apply: uniq_perm => //; first exact: filter_uniq.
  by move=> j; rewrite mem_filter; case js: (j \in s); rewrite //= st.
by rewrite ler_addl sumr_ge0.
Qed.

Lemma sub_window (s : seq int) : exists N, {subset s <= window N}.
Proof.
elim: s => [|j s [N IH]]; first by exists 0%N.
exists (maxn `|j| N)%N => i; rewrite inE mem_window => /orP[/eqP->|/IH]; first by rewrite leq_maxl.
by rewrite mem_window => /leq_trans; apply; rewrite leq_maxr.
Qed.

(** Powers of a number in [0, 1) fall below every bound. Bernoulli's inequality gives how fast. *)
Lemma bernoulli x n : 0 <= x <= 1 -> x ^+ n * (1 + n%:R * (1 - x)) <= 1.
Proof.
move=> /andP[x0 x1]; elim: n => [|n IH]; first by rewrite expr0 mul1r mul0r addr0.
apply: le_trans IH; rewrite exprSr -mulrA ler_wpmul2l ?exprn_ge0 //.
rewrite -subr_ge0.
have -> : 1 + n%:R * (1 - x) - x * (1 + n.+1%:R * (1 - x)) = (n.+1%:R * (1 - x) ^+ 2).
  by rewrite -addn1 natrD; ring.
by rewrite mulr_ge0 ?ler0n ?sqr_ge0.
Qed.

Lemma pow_small x eps : 0 <= x < 1 -> 0 < eps -> exists n, x ^+ n < eps.
Proof.
move=> /andP[x0 x1] e0; have d0 : 0 < 1 - x by rewrite subr_gt0.
have [n] : exists n, (eps * (1 - x))^-1 < n%:R.
  exists (Num.bound (eps * (1 - x))^-1); apply: archi_boundP.
  by rewrite invr_ge0 mulr_ge0 // ltW.
move=> ne; exists n.
have p0 : 0 < 1 + n%:R * (1 - x) by rewrite ltr_paddr ?ltr01 ?mulr_ge0 ?ler0n // ltW.
have := bernoulli n (_ : 0 <= x <= 1); rewrite x0 (ltW x1) => /(_ isT); rewrite -ler_pdivl_mulr // mul1r.
move/le_lt_trans; apply; rewrite -[eps]invrK ltf_pinv ?posrE ?invr_gt0 //.
have -> : eps^-1 = (eps * (1 - x))^-1 * (1 - x) by field; rewrite !gt_eqF.
apply: lt_le_trans (_ : n%:R * (1 - x) <= _); first by rewrite ltr_pmul2r.
by rewrite ler_addr ler01.
Qed.

(** The one way by which series are summed here: the sums over windows that grow by P lack at most C q^N of x. *)
Lemma sums_to_steps f x C q M P : (forall j, 0 <= f j) -> 0 <= q < 1 -> 0 <= C -> (0 < P)%N ->
  (forall N, sum_in f (window (M + N * P)) <= x /\ x <= sum_in f (window (M + N * P)) + C * q ^+ N) -> sums_to f x.
Proof.
move=> f0 q01 C0 P0 H; split=> [s us|eps e0].
  have [N sN] := sub_window s.
  apply: le_trans (H N).1; apply: sum_in_sub => //; first exact: uniq_window.
  by move=> j /sN; rewrite !mem_window => /leq_trans; apply; rewrite (leq_trans _ (leq_addl _ _)) // leq_pmulr.
have D0 : 0 < C + 1 by rewrite ltr_paddl ?ltr01.
have [N qN] := pow_small q01 (divr_gt0 e0 D0).
exists (window (M + N * P)); first exact: uniq_window.
rewrite ltr_subl_addr; apply: le_lt_trans (H N).2 _; rewrite ltr_add2l.
move: qN; rewrite ltr_pdivl_mulr // mulrC; apply: le_lt_trans.
by rewrite ler_wpmul2r ?ler_addl // exprn_ge0 //; case/andP: q01.
Qed.

Lemma sums_to_tail f x C q M : (forall j, 0 <= f j) -> 0 <= q < 1 -> 0 <= C ->
  (forall N, sum_in f (window (M + N)) <= x /\ x <= sum_in f (window (M + N)) + C * q ^+ N) -> sums_to f x.
Proof. by move=> f0 q01 C0 H; apply: (@sums_to_steps f x C q M 1) => // N; rewrite muln1. Qed.

Lemma sums_to_unique f x y : sums_to f x -> sums_to f y -> x = y.
Proof.
move=> [fx xf] [fy yf]; apply/eqP; rewrite eq_le; apply/andP; split.
  apply/ler_addgt0Pl => e e0; have [s us] := xf e e0; rewrite ltr_subl_addr => /ltW/le_trans; apply.
  by rewrite addrC ler_add2l fy.
apply/ler_addgt0Pl => e e0; have [s us] := yf e e0; rewrite ltr_subl_addr => /ltW/le_trans; apply.
by rewrite addrC ler_add2l fx.
Qed.

Lemma eq_sums_to f g x : f =1 g -> sums_to f x -> sums_to g x.
Proof.
move=> fg [h1 h2]; have E s : sum_in g s = sum_in f s by apply: eq_bigr => j _; rewrite fg.
by split=> [s us|e e0]; [rewrite E h1|have [s us hs] := h2 e e0; exists s; rewrite ?E].
Qed.

(** A series may be shifted, *)
Lemma sums_to_shift f x c : sums_to f x -> sums_to (fun k => f (k - c)) x.
Proof.
move=> [h1 h2]; split=> [s us|e e0].
  have -> : sum_in (fun k => f (k - c)) s = sum_in f [seq k - c | k <- s] by rewrite /sum_in big_map.
  by rewrite h1 // map_inj_uniq // => i j /addIr.
have [s us hs] := h2 e e0; exists [seq k + c | k <- s]; first by rewrite map_inj_uniq // => i j /addIr.
by rewrite /sum_in big_map; under eq_bigr do rewrite addrK.
Qed.

(** scaled by a positive constant, *)
Lemma sums_to_scale f x d : 0 < d -> sums_to f x -> sums_to (fun k => d * f k) (d * x).
Proof.
move=> d0 [h1 h2]; have E s : sum_in (fun k => d * f k) s = d * sum_in f s by rewrite /sum_in mulr_sumr.
split=> [s us|e e0]; first by rewrite E ler_pmul2l ?h1.
have [s us hs] := h2 (e / d) (divr_gt0 e0 d0); exists s => //.
by rewrite E -ltr_pdivr_mull // mulrC mulrBl mulrAC divff ?mul1r ?gt_eqF.
Qed.

(** and given more mass at one place. *)
Lemma sums_to_bump f x d p : (forall j, 0 <= f j) -> 0 <= d -> sums_to f x -> sums_to (fun k => (if k == p then d else 0) + f k) (d + x).
Proof.
move=> f0 d0 [h1 h2].
have E s : uniq s -> sum_in (fun k => (if k == p then d else 0) + f k) s = (if p \in s then d else 0) + sum_in f s.
  move=> us; rewrite /sum_in big_split /=; congr (_ + _); case: ifPn => ps.
    by rewrite (bigD1_seq p) //= eqxx big1 ?addr0 // => j /negbTE ->.
  by rewrite big1_seq // => j /andP[_ js]; case: eqP => // jp; rewrite -jp js in ps.
split=> [s us|e e0]; first by rewrite E // ler_add ?h1 //; case: ifP.
have [s us hs] := h2 e e0; case ps: (p \in s).
  by exists s => //; rewrite E // ps -addrA ltr_add2l.
exists (p :: s); first by rewrite /= ps.
rewrite E /= ?ps // inE eqxx /= -addrA ltr_add2l /sum_in big_cons.
by apply: lt_le_trans hs _; rewrite ler_addr.
Qed.

End Sums.
