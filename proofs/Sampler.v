(** The sampler: an index that is drawn from certified thresholds and fair bits has exactly the distribution that was stated.

    The thresholds 0 = T_0 <= T_1 <= ... <= T_k <= T_(k+1) = 1 cut [0, 1); index j is to have the chance T_(j+1) - T_j.
    A threshold is known through intervals of integers, and a uniform U through its first bits. `Thresholds.decide` of
    src/utmost/core/sampling/categorical.py takes further bits until an index is certain; here is that loop, with every
    interval that it may be given, and its distribution: the chance that j was returned after t rounds never passes
    T_(j+1) - T_j, and comes as near to it as one wishes. Then the two stages of `Categorical`.

    Assumed: bits are independent and fair, so that all first b bits of U are equally likely; intervals hold their
    thresholds and shrink. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Sums Geometric.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Lemma sub_in_count (s : seq nat) (P Q : pred nat) : {in s, forall u, P u -> Q u} -> (count P s <= count Q s)%N.
Proof.
elim: s => //= u s IH PQ; apply: leq_add; last by apply: IH => v vs; apply: PQ; rewrite inE vs orbT.
by have := PQ u (mem_head u s); case: (P u) => // /(_ isT) ->.
Qed.

(** The chance of an event that looks at the first b bits of U: how many of the 2^b words it holds for. *)
Section Chance.
Variable F : archiFieldType.
Implicit Types (x y : F) (P Q : pred nat).

Definition chance b P : F := (count P (iota 0 (2 ^ b)))%:R / (2 ^ b)%:R.

Lemma words_gt0 b : 0 < (2 ^ b)%:R :> F. Proof. by rewrite ltr0n expn_gt0. Qed.

Lemma chance_sub b P Q : {in iota 0 (2 ^ b), forall u, P u -> Q u} -> chance b P <= chance b Q.
Proof.
move=> PQ; by rewrite /chance ler_pmul2r ?invr_gt0 ?words_gt0 // ler_nat sub_in_count.
Qed.

(** Further bits change no chance of what does not look at them. *)
Lemma count_words c P N : count (fun u => P (u %/ 2 ^ c)%N) (iota 0 (N * 2 ^ c)) = (count P (iota 0 N) * 2 ^ c)%N.
Proof.
elim: N => [|N IH]; first by rewrite !mul0n.
rewrite -[N.+1]addn1 iotaD count_cat mulnDl mulnDl iotaD count_cat IH !add0n mul1n /= addn0; congr (_ + _)%N.
rewrite (@eq_in_count _ _ (fun=> P N)) => [|u].
  by rewrite -[RHS]muln1; case: (P N); rewrite ?count_predT ?size_iota ?count_pred0 ?mul1n ?mul0n ?muln1.
rewrite mem_iota => /andP[Nu uN]; congr (P _); apply/eqP; rewrite eqn_leq leq_divRL ?expn_gt0 // Nu andbT.
by rewrite -ltnS ltn_divLR ?expn_gt0 // mulSn addnC.
Qed.

Lemma chance_more_bits b c P : chance (b + c) (fun u => P (u %/ 2 ^ c)%N) = chance b P.
Proof.
rewrite /chance expnD count_words !natrM invfM mulrACA divff ?mulr1 //.
by rewrite gt_eqF // words_gt0.
Qed.

(** Words that lie between two reals are as many as fit there. *)
Lemma count_between x y N : x <= y -> (count (fun u => (x <= u%:R) && (u%:R + 1 <= y)) (iota 0 N))%:R <= y - x.
Proof.
elim: N y => [|N IH] y xy; first by rewrite subr_ge0.
rewrite -[N.+1]addn1 iotaD count_cat /= add0n addn0.
case: andP => [[xN Ny]|_]; last by rewrite addn0 IH.
rewrite natrD; apply: le_trans (_ : (N%:R - x) + 1 <= _); last by rewrite addrAC ler_add2r.
rewrite ler_add2r; apply: le_trans (IH _ xN); rewrite ler_nat.
apply: sub_in_count => u; rewrite mem_iota add0n => /andP[_ uN] /andP[-> _] /=.
by rewrite -[1]/(1%:R) -natrD addn1 ler_nat.
Qed.

End Chance.

(** * Certified thresholds *)
Section Thresholds.
Variable F : archiFieldType.
Variables (k : nat) (T : nat -> F).
Hypotheses (T0 : T 0%N = 0) (Tk : T k.+1 = 1) (T_rises : {homo T : i j / (i <= j)%N >-> i <= j}).

(** Round t knows [bits t] bits of U, which is then one of 2^bits words, and for the threshold T_(i+1), i < k, integers
    low and high with low/2^p <= T_(i+1) <= high/2^p. *)
Variables (bits precision : nat -> nat) (low high : nat -> nat -> int).
Variable fresh : nat -> nat.
Hypothesis bits_grow : forall t, bits t.+1 = (bits t + fresh t)%N.
Hypothesis low_below : forall t i, (i < k)%N -> (low t i)%:~R <= T i.+1 * (2 ^ precision t)%:R.
Hypothesis high_above : forall t i, (i < k)%N -> T i.+1 * (2 ^ precision t)%:R <= (high t i)%:~R.

Notation word t := (2 ^ bits t)%N.

(** `Thresholds.cells`: the first and the last word that are not certainly on one side, by shifts of integers; *)
Definition first_alone t i : int := ((low t i * (word t)%:Z) %/ (2 ^ precision t)%:Z)%Z.
Definition last_alone t i : int := - ((- high t i * (word t)%:Z) %/ (2 ^ precision t)%:Z)%Z - 1.
(** and both made to rise with i: the largest so far, and the smallest from here on. *)
Fixpoint first t i : int := if i is i'.+1 then Num.max (first t i') (first_alone t i) else first_alone t i.
Fixpoint least t i n : int := if n is n'.+1 then Num.min (last_alone t i) (least t i.+1 n') else last_alone t i.
Definition last t i : int := least t i (k - i.+1).

(** `Thresholds.decide`, one round: how many thresholds the word may have passed, and whether it certainly has. *)
Definition index t (u : nat) : nat := count (fun i => first t i <= u%:Z) (iota 0 k).
Definition sure t (u : nat) : bool := (index t u == 0%N) || (last t (index t u).-1 < u%:Z).
(** All rounds so far: what was returned by round t, for the first bits u. *)
Fixpoint returned t (u : nat) : option nat :=
  let now := if sure t u then Some (index t u) else None in
  if t is t'.+1 then (if returned t' (u %/ 2 ^ fresh t')%N is Some j then Some j else now) else now.

Let p0 t : 0 < (2 ^ precision t)%:R :> F := words_gt0 F _.
Let w0 t : 0 < (word t)%:R :> F := words_gt0 F _.

Lemma first_alone_below t i : (i < k)%N -> (first_alone t i)%:~R <= T i.+1 * (word t)%:R.
Proof.
move=> ik; rewrite -(ler_pmul2r (p0 t)) mulrAC; apply: le_trans (_ : (low t i)%:~R * (word t)%:R <= _).
  rewrite !pmulrn -!intrM ler_int; apply: lez_floor; by rewrite eqz_nat expn_eq0.
by rewrite ler_pmul2r ?low_below.
Qed.

Lemma last_alone_above t i : (i < k)%N -> T i.+1 * (word t)%:R <= (last_alone t i + 1)%:~R.
Proof.
move=> ik; rewrite /last_alone subrK -(ler_pmul2r (p0 t)) mulrAC.
apply: le_trans (_ : (high t i)%:~R * (word t)%:R <= _); first by rewrite ler_pmul2r ?high_above.
rewrite !pmulrn -!intrM ler_int mulNr ler_oppr -mulNr; apply: lez_floor; by rewrite eqz_nat expn_eq0.
Qed.

Lemma first_below t i : (i < k)%N -> (first t i)%:~R <= T i.+1 * (word t)%:R.
Proof.
elim: i => [|i IH] ik; first exact: first_alone_below.
rewrite /= maxEle; case: ifP => _; first exact: first_alone_below.
by apply: le_trans (IH (ltnW ik)) _; rewrite ler_pmul2r // T_rises.
Qed.

Lemma least_above t i n : (i + n < k)%N -> T i.+1 * (word t)%:R <= (least t i n + 1)%:~R.
Proof.
elim: n i => [|n IH] i /=; first by rewrite addn0; apply: last_alone_above.
move=> ik; rewrite minEle; case: ifP => _; first by apply: last_alone_above; lia.
apply: le_trans (_ : T i.+2 * (word t)%:R <= _); first by rewrite ler_pmul2r // T_rises.
by apply: IH; lia.
Qed.

Lemma last_above t i : (i < k)%N -> T i.+1 * (word t)%:R <= (last t i + 1)%:~R.
Proof. by move=> ik; apply: least_above; lia. Qed.

Lemma first_rises t i j : (i <= j)%N -> first t i <= first t j.
Proof.
move/subnK <-; elim: (j - i)%N => [|n IH] //=.
by apply: le_trans IH _; rewrite /= le_maxr lexx.
Qed.

(** The bisection: the words passed are those below the index. *)
Lemma index_le t u : (index t u <= k)%N.
Proof. by rewrite /index -[X in (_ <= X)%N](size_iota 0 k) count_size. Qed.

Lemma passed t u i : (i < k)%N -> (first t i <= u%:Z) = (i < index t u)%N.
Proof.
rewrite /index; elim: k => // n IH; rewrite ltnS => iN.
rewrite -[n.+1]addn1 iotaD count_cat /= add0n addn0.
have full m : first t m <= u%:Z -> count (fun i => first t i <= u%:Z) (iota 0 m) = m.
  move=> mu; rewrite -[RHS](size_iota 0); apply/eqP; rewrite -all_count; apply/allP => j; rewrite mem_iota add0n /=.
  by move=> jm; apply: le_trans mu; apply: first_rises; apply: ltnW.
case nu: (first t n <= u%:Z).
  rewrite full // addn1 ltnS iN; apply: le_trans nu; exact: first_rises.
rewrite addn0; move: iN; rewrite leq_eqVlt => /orP[/eqP->|]; last exact: IH.
rewrite nu; apply/esym/negbTE; rewrite -leqNgt -[X in (_ <= X)%N](size_iota 0 n); exact: count_size.
Qed.

(** A word whose index is certain lies in the interval of that index, whole. *)
Lemma sure_inside t u : (u < word t)%N -> sure t u ->
  T (index t u) * (word t)%:R <= u%:R /\ u%:R + 1 <= T (index t u).+1 * (word t)%:R.
Proof.
move=> uw su; have le := index_le t u; split.
  case E: (index t u) => [|j]; first by rewrite T0 mul0r ler0n.
  move: su; rewrite /sure E /= => lu; apply: le_trans (last_above t _) _; first by rewrite -E.
  by rewrite pmulrn ler_int; lia.
case: (ltngtP (index t u) k) le => // [jk _|->]; last first.
  by rewrite Tk mul1r -[1]/(1%:R) -natrD addn1 ler_nat.
apply: le_trans (first_below t jk); rewrite -[1]/(1%:R) -natrD pmulrn ler_int.
have := passed t u jk; rewrite ltnn; lia.
Qed.

Lemma returned_inside t u j : (u < word t)%N -> returned t u = Some j ->
  [/\ (j <= k)%N, T j * (word t)%:R <= u%:R & u%:R + 1 <= T j.+1 * (word t)%:R].
Proof.
have here t' v : (v < word t')%N -> (if sure t' v then Some (index t' v) else None) = Some j ->
    [/\ (j <= k)%N, T j * (word t')%:R <= v%:R & v%:R + 1 <= T j.+1 * (word t')%:R].
  move=> vw; case: ifP => // sv [<-]; have [] := sure_inside vw sv; split=> //; exact: index_le.
elim: t u => [|t IH] u uw; first exact: here.
rewrite /=; case E: returned => [i|]; last exact: here.
case=> ij; rewrite -ij; have c0 : (0 < 2 ^ fresh t)%N by rewrite expn_gt0.
have vw : (u %/ 2 ^ fresh t < word t)%N by rewrite ltn_divLR // -expnD -bits_grow.
have [] := IH _ vw (etrans E (congr1 Some ij)); rewrite -ij => jk lo hi; split=> //.
  rewrite bits_grow expnD natrM mulrA; apply: le_trans (_ : ((u %/ 2 ^ fresh t) * 2 ^ fresh t)%:R <= _).
    by rewrite natrM ler_pmul2r ?words_gt0.
  by rewrite ler_nat leq_trunc_div.
rewrite bits_grow expnD natrM mulrA; apply: le_trans (_ : ((u %/ 2 ^ fresh t).+1 * 2 ^ fresh t)%:R <= _).
  by rewrite -[1]/(1%:R) -natrD addn1 ler_nat -ltn_divLR.
by rewrite natrM ler_pmul2r ?words_gt0 // -addn1 natrD.
Qed.

(** The chance that index j was returned by round t, and that none was. *)
Definition distribution t j : F := chance F (bits t) (fun u => returned t u == Some j).
Definition open t : F := chance F (bits t) (fun u => returned t u == None).

(** 1. No index is returned too often. *)
Theorem never_too_often t j : (j <= k)%N -> distribution t j <= T j.+1 - T j.
Proof.
move=> jk; rewrite /distribution /chance ler_pdivr_mulr // mulrBl.
apply: le_trans (count_between (word t) _); last by rewrite ler_pmul2r // T_rises.
rewrite ler_nat; apply: sub_in_count => u; rewrite mem_iota add0n => /andP[_ uw] /eqP.
by case/(returned_inside uw) => _ -> ->.
Qed.

(** 2. What was returned and what is open make up everything, *)
Lemma count_all t (s : seq nat) : all (fun u => u < word t)%N s ->
  (\sum_(0 <= j < k.+1) count (fun u => returned t u == Some j) s + count (fun u => returned t u == None) s = size s)%N.
Proof.
elim: s => [|u s IH] /=; first by rewrite big1.
case/andP=> uw sw; rewrite big_split /= addnACA IH // -[RHS]add1n; congr (_ + _)%N.
case E: (returned t u) => [j|]; last by rewrite big1 // => j _; rewrite eqxx.
have [jk _ _] := returned_inside uw E; rewrite addn0 (bigD1_seq j) ?iota_uniq //=; last by rewrite mem_index_iota.
by rewrite eqxx big1 // => i ij; rewrite (inj_eq (@Some_inj _)) eq_sym (negbTE ij).
Qed.

Lemma distribution_open t : \sum_(0 <= j < k.+1) distribution t j + open t = 1.
Proof.
rewrite /distribution /open /chance -mulr_suml -mulrDl -natr_sum -natrD count_all; last first.
  by apply/allP => u; rewrite mem_iota.
by rewrite size_iota divff // gt_eqF.
Qed.

(** so no index lacks more than what is open. *)
Theorem never_too_rarely t j : (j <= k)%N -> T j.+1 - T j - open t <= distribution t j.
Proof.
move=> jk; rewrite ler_subl_addr -ler_subl_addl.
have all_mass : \sum_(0 <= i < k.+1) (T i.+1 - T i - distribution t i) = open t.
  by rewrite sumrB telescope_sumr // T0 Tk subr0 -(distribution_open t) addrAC subrr add0r.
rewrite -all_mass (bigD1_seq j) ?iota_uniq ?mem_index_iota //= ler_addl big_seq_cond.
by apply: sumr_ge0 => i /andP[]; rewrite mem_index_iota => ik _; rewrite subr_ge0 never_too_often.
Qed.

(** 3. What is open are the words beside a threshold. *)
Lemma open_beside t u : returned t u = None -> has (fun i => first t i <= u%:Z <= last t i) (iota 0 k).
Proof.
move=> E; have : ~~ sure t u.
  by case: t E => [|t] /=; [case: ifP|case: returned => [j|] //; case: ifP].
rewrite negb_or -lt0n -leNgt => /andP[i0 lu]; have le := index_le t u.
have ik : ((index t u).-1 < k)%N by rewrite prednK.
apply/hasP; exists (index t u).-1; first by rewrite mem_iota.
by rewrite lu andbT passed // prednK.
Qed.

Lemma count_has (Q : nat -> pred nat) (s r : seq nat) :
  (count (fun u => has (Q^~ u) r) s <= \sum_(i <- r) count (Q i) s)%N.
Proof.
elim: s => [|u s IH] /=; first by rewrite big1.
rewrite big_split /= leq_add //; case: hasP => // -[i ir iu].
by rewrite (big_rem i) //= iu.
Qed.

Lemma open_few t (e : F) :
  (forall i, (i < k)%N -> (last t i + 1 - first t i)%:~R <= e * (word t)%:R) -> open t <= k%:R * e.
Proof.
move=> few; rewrite /open /chance ler_pdivr_mulr //.
apply: le_trans (_ : (\sum_(i <- iota 0 k) count (fun u => (first t i <= u%:Z <= last t i)%R) (iota 0 (word t)))%N%:R <= _).
  rewrite ler_nat; apply: leq_trans (count_has _ _ _); apply: sub_in_count => u _ /eqP; exact: open_beside.
rewrite natr_sum; apply: le_trans (_ : \sum_(i <- iota 0 k) e * (word t)%:R <= _); last first.
  by rewrite big_const_seq count_predT size_iota iter_addr_0 -mulrA mulr_natl.
rewrite !big_seq; apply: ler_sum => i; rewrite mem_iota add0n => ik; apply: le_trans (few i ik).
have ordered : (first t i)%:~R <= (last t i + 1)%:~R :> F by apply: le_trans (last_above t ik); apply: first_below.
rewrite rmorphB; apply: le_trans (count_between (word t) ordered); rewrite ler_nat; apply: sub_in_count => u _ /andP[lo hi].
by rewrite pmulrn ler_int lo /= -[1]/(1%:~R) -intrD ler_int; lia.
Qed.

(** The words beside a threshold are few where the interval is short and U is known well. *)
Lemma beside_few t i (e : F) : (i < k)%N -> (high t i - low t i)%:~R <= e * (2 ^ precision t)%:R ->
  2%:R <= e * (word t)%:R -> (last t i + 1 - first t i)%:~R <= (e + e) * (word t)%:R.
Proof.
move=> ik short fine.
apply: le_trans (_ : (last_alone t i + 1 - first_alone t i)%:~R <= _).
  rewrite ler_int; have : first_alone t i <= first t i by case: (i) => // j /=; rewrite le_maxr lexx orbT.
  have : last t i <= last_alone t i by rewrite /last; case: (_ - _)%N => // j /=; rewrite le_minl lexx.
  lia.
rewrite -(ler_pmul2r (p0 t)).
have P0 : 0 < (2 ^ precision t)%:Z by rewrite ltz_nat expn_gt0.
have lo := ltz_ceil (low t i * (word t)%:Z) P0; have hi := ltz_ceil (- high t i * (word t)%:Z) P0.
apply: le_trans (_ : ((high t i - low t i) * (word t)%:Z + 2 * (2 ^ precision t)%:Z)%:~R <= _).
  rewrite !pmulrn -intrM ler_int; rewrite /last_alone /first_alone.
  move: lo hi; set A := (_ %/ _)%Z; set B := (_ %/ _)%Z; nia.
rewrite intrD !intrM -!pmulrn !mulrDl; apply: ler_add.
  by rewrite mulrAC ler_pmul2r.
by rewrite -mulrDl ler_pmul2r.
Qed.

(** * The distribution is exact

    Whatever the intervals are, if they become as short as one wishes and U is known as well as one wishes, an index is
    returned in the end with probability one, and j with the chance T_(j+1) - T_j: neither more nor less. *)
Hypothesis shrinks : forall e : F, 0 < e -> exists t,
  (forall i, (i < k)%N -> (high t i - low t i)%:~R <= e * (2 ^ precision t)%:R) /\ 2%:R <= e * (word t)%:R.

Theorem ends_surely (e : F) : 0 < e -> exists t, open t <= e.
Proof.
move=> e0; have n0 : 0 < (2 * k.+1)%:R :> F by rewrite ltr0n.
have [t [short fine]] := shrinks (divr_gt0 e0 n0); exists t.
apply: le_trans (open_few (fun i ik => beside_few ik (short i ik) fine)) _.
have -> : k%:R * (e / (2 * k.+1)%:R + e / (2 * k.+1)%:R) = e * (2 * k)%:R / (2 * k.+1)%:R by rewrite natrM; ring.
by rewrite ler_pdivr_mulr // ler_pmul2l // ler_nat leq_pmul2l.
Qed.

Theorem exact_distribution j : (j <= k)%N ->
  (forall t, distribution t j <= T j.+1 - T j) /\ (forall e, 0 < e -> exists t, T j.+1 - T j - e <= distribution t j).
Proof.
move=> jk; split=> [t|e e0]; first exact: never_too_often.
have [t te] := ends_surely e0; exists t; apply: le_trans (never_too_rarely t jk).
by rewrite ler_add2l ler_opp2.
Qed.
End Thresholds.

(** * Whole cells first: the two stages of `Categorical`

    Of the 2^b words of a first look, index j takes n_j for its own, in order; whoever meets one of those left over draws
    again, from the distribution of the rest. The numbers n_j decide how often that happens and nothing else. *)
Section TwoStages.
Variable F : archiFieldType.
Variables (k b : nat) (T : nat -> F) (n : nat -> nat).
Hypotheses (T0 : T 0%N = 0) (Tk : T k.+1 = 1) (T_rises : {homo T : i j / (i <= j)%N >-> i <= j}).
Hypothesis whole : forall j, (n j)%:R <= (T j.+1 - T j) * (2 ^ b)%:R.

Fixpoint taken (j : nat) : nat := if j is i.+1 then (taken i + n i)%N else 0%N.
Definition left_over : F := (2 ^ b)%:R - (taken k.+1)%:R.
Hypothesis some_left : 0 < left_over.

(** `rest` of the code: the thresholds of the second stage. *)
Definition rest_cut (j : nat) : F := (T j * (2 ^ b)%:R - (taken j)%:R) / left_over.

Lemma rest_0 : rest_cut 0 = 0. Proof. by rewrite /rest_cut T0 mul0r subrr mul0r. Qed.
Lemma rest_1 : rest_cut k.+1 = 1. Proof. by rewrite /rest_cut Tk mul1r divff // gt_eqF. Qed.

Lemma rest_step j : rest_cut j.+1 - rest_cut j = ((T j.+1 - T j) * (2 ^ b)%:R - (n j)%:R) / left_over.
Proof. by rewrite /rest_cut -mulrBl /= natrD; congr (_ / _); ring. Qed.

Lemma rest_rises : {homo rest_cut : i j / (i <= j)%N >-> i <= j}.
Proof.
move=> i j /subnK <-; elim: (j - i)%N => [|d IH] //; rewrite addSn; apply: le_trans IH _.
by rewrite -subr_ge0 rest_step divr_ge0 ?(ltW some_left) // subr_ge0.
Qed.

Lemma taken_fits : (taken k.+1 <= 2 ^ b)%N.
Proof. by rewrite -(ler_nat F) -subr_ge0 ltW. Qed.

Lemma taken_rises i j : (i <= j)%N -> (taken i <= taken j)%N.
Proof. by move/subnK <-; elim: (j - i)%N => //= d /leq_trans; apply; exact: leq_addr. Qed.

Lemma count_range x y N : (x <= y)%N -> (y <= N)%N -> count (fun u => x <= u < y)%N (iota 0 N) = (y - x)%N.
Proof.
move=> xy yN; have -> : iota 0 N = iota 0 x ++ iota x (y - x) ++ iota y (N - y).
  have E : (x + ((y - x) + (N - y)) = N)%N by lia.
  by rewrite -[in LHS]E !iotaD add0n subnKC.
have none s : {in s, (fun u => x <= u < y)%N =1 pred0} -> count (fun u => x <= u < y)%N s = 0%N.
  by move=> H; rewrite (eq_in_count H) count_pred0.
have below : count (fun u => x <= u < y)%N (iota 0 x) = 0%N by apply: none => u; rewrite mem_iota /=; lia.
have above : count (fun u => x <= u < y)%N (iota y (N - y)) = 0%N by apply: none => u; rewrite mem_iota /=; lia.
rewrite !count_cat below above addn0 add0n.
rewrite (@eq_in_count _ _ predT) ?count_predT ?size_iota // => u; rewrite mem_iota /=; lia.
Qed.

Definition own j : F := chance F b (fun u => taken j <= u < taken j.+1)%N.
Definition again : F := chance F b (fun u => taken k.+1 <= u)%N.

Lemma own_is j : (j <= k)%N -> own j = (n j)%:R / (2 ^ b)%:R.
Proof.
move=> jk; rewrite /own /chance count_range ?taken_rises //; last by apply: leq_trans taken_fits; apply: taken_rises.
by rewrite /= addKn.
Qed.

Lemma again_is : again = left_over / (2 ^ b)%:R.
Proof.
rewrite /again /chance /left_over -natrB ?taken_fits //.
rewrite -(count_range taken_fits (leqnn (2 ^ b)%N)); congr (_%:R / _).
by apply: eq_in_count => u; rewrite mem_iota add0n => /andP[_ ->]; rewrite andbT.
Qed.

(** Both stages together have the distribution, whatever the n_j are. *)
Theorem two_stages j : (j <= k)%N -> own j + again * (rest_cut j.+1 - rest_cut j) = T j.+1 - T j.
Proof.
move=> jk; rewrite own_is // again_is rest_step; have := words_gt0 F b; have := some_left.
move: left_over (2 ^ b)%:R => L W L0 W0; field; by rewrite !gt_eqF.
Qed.

(** And so has the draw itself, its second stage being the loop above on fresh bits: after t rounds index j was returned
    with a chance that never passes the stated one, and comes as near to it as one wishes. *)
Theorem exact_draw bits precision low high fresh j :
  (forall t, bits t.+1 = (bits t + fresh t)%N) ->
  (forall t i, (i < k)%N -> (low t i)%:~R <= rest_cut i.+1 * (2 ^ precision t)%:R) ->
  (forall t i, (i < k)%N -> rest_cut i.+1 * (2 ^ precision t)%:R <= (high t i)%:~R) ->
  (forall e : F, 0 < e -> exists t,
    (forall i, (i < k)%N -> (high t i - low t i)%:~R <= e * (2 ^ precision t)%:R) /\ 2%:R <= e * (2 ^ bits t)%:R) ->
  (j <= k)%N ->
  let drawn t := own j + again * distribution F k bits precision low high fresh t j in
  (forall t, drawn t <= T j.+1 - T j) /\ (forall e, 0 < e -> exists t, T j.+1 - T j - e <= drawn t).
Proof.
move=> grow lo hi shrink jk drawn.
have [often rarely] := exact_distribution rest_0 rest_1 rest_rises grow lo hi shrink jk.
have again_gt0 : 0 < again by rewrite again_is divr_gt0 ?words_gt0.
split=> [t|e e0]; first by rewrite -two_stages // ler_add2l ler_pmul2l.
have [t near] := rarely _ (divr_gt0 e0 again_gt0); exists t.
rewrite /drawn -two_stages // -addrA ler_add2l.
have -> : e = e / again * again by rewrite divfK // gt_eqF.
by rewrite [e / again * again]mulrC -mulrBr ler_pmul2l.
Qed.
End TwoStages.

(** * Geometric noise from its parts *)
Section Parts.
Variable F : archiFieldType.
Implicit Types a : F.

(** P(K = k) on the natural numbers, and the distribution of one group of digits, which has M values. *)
Definition one_sided a k : F := (1 - a) * a ^+ k.
Definition digits (M : nat) a d : F := one_sided a d / (1 - a ^+ M).

Lemma pow_lt1 a M : 0 < a < 1 -> (0 < M)%N -> 1 - a ^+ M != 0.
Proof. by move=> /andP[a0 a1] M0; rewrite gt_eqF // subr_gt0 exprn_ilt1 ?ltW // -lt0n. Qed.

(** K = Q M + D: its quotient is geometric of ratio a^M, and independent of its remainder; *)
Theorem quotient_apart a M q d : 0 < a < 1 -> (0 < M)%N -> one_sided a (q * M + d) = one_sided (a ^+ M) q * digits M a d.
Proof.
move=> a01 M0; rewrite /digits /one_sided exprD mulnC exprM; have := pow_lt1 a01 M0.
by move: (a ^+ M) => A A1; field; rewrite A1.
Qed.

(** so are the groups within the remainder. *)
Theorem digits_apart a M N q d : 0 < a < 1 -> (0 < M)%N -> (0 < N)%N ->
  digits (N * M) a (q * M + d) = digits N (a ^+ M) q * digits M a d.
Proof.
move=> a01 M0 N0; rewrite /digits quotient_apart // /digits mulnC [a ^+ (M * N)]exprM.
by rewrite mulrAC.
Qed.

Theorem digits_sum a M : 0 < a < 1 -> (0 < M)%N -> \sum_(d < M) digits M a d = 1.
Proof.
move=> a01 M0; rewrite -mulr_suml; have -> : \sum_(d < M) one_sided a d = 1 - a ^+ M.
  elim: (M) => [|m IH]; first by rewrite big_ord0 expr0 subrr.
  by rewrite big_ord_recr /= IH /one_sided exprS; ring.
by rewrite divff // pow_lt1.
Qed.

(** Beyond v the quotient is v and a fresh copy of itself. *)
Theorem memoryless a v i : one_sided a (v + i) = a ^+ v * one_sided a i.
Proof. by rewrite /one_sided exprD mulrCA. Qed.

(** The sign: K with chance 1/(1+a), else -1-K, is two-sided geometric. *)
Theorem signed a (k : int) : 0 < a < 1 ->
  tsg a k = match k with Posz i => 1 / (1 + a) * one_sided a i | Negz i => a / (1 + a) * one_sided a i end.
Proof.
move=> /andP[a0 a1]; have n0 : 1 + a != 0 by rewrite gt_eqF // addr_gt0 ?ltr01.
case: k => i; rewrite /tsg /one_sided /=.
  move: (a ^+ i) => A; field; exact: n0.
rewrite exprS; move: (a ^+ i) => A; field; exact: n0.
Qed.
End Parts.
