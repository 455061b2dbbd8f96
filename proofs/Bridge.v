(** The mixture that the code draws a bridge from is the conditional distribution of the chain.

    The table in the docstring of `Bridge`, src/utmost/core/gradual/steps.py, says how a response between two others is
    drawn. Here its distribution is computed case by case and compared with the distribution that Release.v asks for. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Sums Geometric.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Bridge.
Variable F : archiFieldType.
(** The alphas of the lower level, of the middle one, and of the higher one. *)
Variables a m b : F.
Hypotheses (b0 : 0 <= b) (bm : b < m) (ma : m < a) (a1 : a < 1).

(** The weights of the table, with W = n and K = j. *)
Definition home : F := b / m * (1 - a * m) * (a - m) / ((1 - a * b) * (a - b)).
Definition across : F := a * (1 - m * b) * (m - b) * (a - m) / ((1 - m ^+ 2) * (1 - a * b) * (a - b)).
Definition rest : F := a * (1 - m * b) * (m - b) * (1 - a * m) / (m * (1 - m ^+ 2) * (1 - a * b) * (a - b)).
Definition stays : F := rest * m * (1 - a ^+ 2) / (a * (1 - a * m)).
Definition leaps : F := rest * (a - m) / (a * (1 - a * m)).
(** J ~ Geom(am) and G ~ Geom(m/a): P(J = i), P(G = i) and P(G >= i). *)
Definition J i : F := (1 - a * m) * (a * m) ^+ i.
Definition G i : F := (1 - m / a) * (m / a) ^+ i.
Definition G_from i : F := (m / a) ^+ i.

(** For n > 0: P(K = -(1+i)), P(K = 0), P(K = j) with 0 < j < n, P(K = n), and P(K = n + i) with i > 0. *)
Definition behind i : F := across * J i.
Definition at_home : F := home + (stays + leaps) * G 0.
Definition between j : F := (stays + leaps) * G j.
Definition at_end n : F := stays * G_from n + leaps * G_from n * J 0.
Definition beyond n i : F := leaps * G_from n * J i.

(** For n = 0 the mixture, with sign +1, is preceded by K = 0 with chance `Bridge.idle`. *)
Definition idle : F := stay b a / (stay b a + (1 - stay b a) * ((1 - a) / (1 + a))).

(** P(K = j | W = n) by the chain: to j from b to m, and on to n from m to a. *)
Definition bridge (n j : int) : F := tighten b m j * tighten m a (n - j) / tighten b a n.

Let m0 : 0 < m := le_lt_trans b0 bm.
Let a0 : 0 < a := lt_trans m0 ma.
Let m1 : m < 1 := lt_trans ma a1.
Let b1 : b < 1 := lt_trans bm m1.
Let ba : b < a := lt_trans bm ma.

Lemma nz (x : F) : x < 1 -> 1 - x != 0. Proof. by move=> x1; rewrite gt_eqF // subr_gt0. Qed.
Lemma pz (x : F) : 0 <= x -> 1 + x != 0. Proof. by move=> x0; rewrite gt_eqF // ltr_paddr ?ltr01. Qed.
Lemma lt1 (x y : F) : 0 <= x -> x < 1 -> 0 <= y -> y < 1 -> x * y < 1.
Proof. by move=> x0 x1 y0 y1; apply: le_lt_trans y1; rewrite ler_pimull // ltW. Qed.

Lemma am0 : a - m != 0. Proof. by rewrite gt_eqF // subr_gt0. Qed.
Lemma ab0 : a - b != 0. Proof. by rewrite gt_eqF // subr_gt0. Qed.
Let facts := (nz a1, nz m1, nz b1, pz (ltW a0), pz (ltW m0), gt_eqF a0, gt_eqF m0,
  nz (lt1 (ltW a0) a1 (ltW m0) m1), nz (lt1 (ltW a0) a1 b0 b1), nz (lt1 (ltW m0) m1 b0 b1),
  nz (lt1 (ltW m0) m1 (ltW m0) m1), am0, ab0).

(** Away from 0 the tightening distribution is a multiple of a^n, *)
Lemma far n : tighten b a n.+1%:Z = (1 - a * b) * (a - b) * (1 - a) / (a * (1 - b) ^+ 2 * (1 + a)) * a ^+ n.+1.
Proof. by rewrite /tighten add0r changing ?a0 ?b0 // /tsg absz_nat; field; rewrite !facts. Qed.

Lemma far_gt0 n : a ^+ n != 0. Proof. by rewrite gt_eqF // exprn_gt0. Qed.

(** and so is every step that is not 0. *)
Lemma off (c d : F) (k : int) (n : nat) : 0 <= c -> c < d -> d < 1 -> k != 0 -> absz k = n ->
  tighten c d k = (1 - d * c) * (d - c) / (d * (1 - c) ^+ 2) * ((1 - d) / (1 + d) * d ^+ n).
Proof.
move=> c0 cd d1 k0 <-; have d0 := le_lt_trans c0 cd; have c1 := lt_trans cd d1.
by rewrite /tighten (negbTE k0) add0r changing ?d0 ?c0.
Qed.

Lemma is_behind n i : bridge n.+1%:Z (- i.+1%:Z) = behind i.
Proof.
rewrite /bridge far /behind /across /J (@off _ _ _ i.+1) ?(@off _ _ _ (n.+1 + i.+1)) ?(ltW m0) //; try lia.
rewrite exprD exprMn !exprS; have := far_gt0 n; move: (a ^+ n) (a ^+ i) (m ^+ i) => A A' M A0; field.
by rewrite A0 !facts.
Qed.

Lemma is_home n : bridge n.+1%:Z 0 = at_home.
Proof.
rewrite /bridge far /at_home /home /stays /leaps /rest /G subr0 (@off _ _ n.+1%:Z n.+1) ?(ltW m0) //.
rewrite /tighten eqxx /tsg /stay absz0 !expr0 !exprS; have := far_gt0 n; move: (a ^+ n) => A A0; field.
by rewrite A0 !facts.
Qed.

Lemma is_between i j : bridge (j.+1 + i.+1)%N%:Z j.+1%:Z = between j.+1.
Proof.
rewrite /bridge addSn far /between /stays /leaps /rest /G -addSn.
rewrite (@off _ _ j.+1%:Z j.+1) ?(@off _ _ _ i.+1) ?(ltW m0) //; try lia.
rewrite expr_div_n exprD !exprS; have := (far_gt0 i, far_gt0 j).
by move: (a ^+ i) (a ^+ j) (m ^+ j) => A A' M [A0 A'0]; field; rewrite A0 A'0 !facts.
Qed.

Lemma is_end n : bridge n.+1%:Z n.+1%:Z = at_end n.+1.
Proof.
rewrite /bridge far /at_end /stays /leaps /rest /G_from /J subrr (@off _ _ n.+1%:Z n.+1) ?(ltW m0) //.
rewrite /tighten eqxx /tsg /stay absz0 !expr_div_n !expr0 !exprS; have := far_gt0 n.
by move: (a ^+ n) (m ^+ n) => A M A0; field; rewrite A0 !facts.
Qed.

Lemma is_beyond n i : bridge n.+1%:Z (n.+1%:Z + i.+1%:Z) = beyond n.+1 i.+1.
Proof.
rewrite /bridge far /beyond /leaps /rest /G_from /J.
rewrite (@off _ _ (n.+1%:Z + i.+1%:Z) (n.+1 + i.+1)) ?(@off _ _ _ i.+1) ?(ltW m0) //; try lia.
rewrite expr_div_n exprD exprMn !exprS; have := far_gt0 n.
by move: (a ^+ n) (a ^+ i) (m ^+ n) (m ^+ i) => A A' M M' A0; field; rewrite A0 !facts.
Qed.

(** The mass of W at 0, and how much of it is not the atom. *)
Definition spread : F := (1 - a * b) * (a - b) * (1 - a) / (a * (1 - b) ^+ 2 * (1 + a)).

Lemma near_gt0 : 0 < tighten b a 0. Proof. exact: tighten_gt0. Qed.
Lemma near : tighten b a 0 = stay b a + spread.
Proof. by rewrite /tighten eqxx changing ?a0 ?b0 // /tsg absz0 expr0 /spread; congr (_ + _); field; rewrite !facts. Qed.

Lemma idle_near : idle = stay b a / tighten b a 0.
Proof. by rewrite /idle /tighten eqxx /tsg absz0 expr0 mulr1. Qed.
Lemma not_idle : 1 - idle = spread / tighten b a 0.
Proof.
rewrite idle_near; have := near_gt0; rewrite near => D0; move: (stay b a) spread D0 => S T /gt_eqF D0.
by field; rewrite D0.
Qed.

(** At n = 0 the mixture is drawn with the chance that is left: K = -(1+i), K = 0 and K = 1+i. *)
Lemma is_behind_0 i : bridge 0 (- i.+1%:Z) = (1 - idle) * behind i.
Proof.
rewrite not_idle /bridge /behind /across /J /spread; have := near_gt0; move: (tighten b a 0) => D /gt_eqF D0.
rewrite !(@off _ _ _ i.+1) ?(ltW m0) //; try lia.
rewrite !exprMn !exprS !expr0; move: (a ^+ i) (m ^+ i) => A M; field.
by rewrite D0 !facts.
Qed.

Lemma is_end_0 : bridge 0 0 = idle + (1 - idle) * (home + at_end 0).
Proof.
rewrite not_idle idle_near /bridge /home /at_end /stays /leaps /rest /G_from /J /spread subrr.
have := near_gt0; move: (tighten b a 0) => D /gt_eqF D0.
rewrite /tighten eqxx /tsg absz0 !expr0 /stay; field.
by rewrite D0 !facts.
Qed.

Lemma is_beyond_0 i : bridge 0 i.+1%:Z = (1 - idle) * beyond 0 i.+1.
Proof.
rewrite not_idle /bridge /beyond /leaps /rest /G_from /J /spread; have := near_gt0; move: (tighten b a 0) => D /gt_eqF D0.
rewrite !(@off _ _ _ i.+1) ?(ltW m0) //; try lia.
rewrite !exprMn !exprS !expr0; move: (a ^+ i) (m ^+ i) => A M; field.
by rewrite D0 !facts.
Qed.

(** The mixture's distribution as one function: what the code draws for W = n >= 0, and turned around for W < 0. *)
Definition mixture_ahead (n : nat) (j : int) : F :=
  let first := if n is 0%N then 1 - idle else 1 in
  (if (n == 0%N) && (j == 0) then idle else 0) + first *
  match j with
  | Negz i => behind i
  | Posz j => if j is 0%N then (if n is 0%N then home + at_end 0 else at_home)
              else if (j < n)%N then between j else if j == n then at_end n else beyond n (j - n)
  end.
Definition mixture (n j : int) : F :=
  match n with Posz n => mixture_ahead n j | Negz n => mixture_ahead n.+1 (- j) end.

Lemma bridgeN n j : bridge (- n) (- j) = bridge n j.
Proof. by rewrite /bridge -opprD !tightenN. Qed.

Lemma bridge_ahead (n : nat) j : bridge n%:Z j = mixture_ahead n j.
Proof.
rewrite /mixture_ahead; case: n => [|n]; case: j => [[|j]|i] /=.
- by rewrite is_end_0.
- by rewrite is_beyond_0 add0r subn0.
- by rewrite NegzE is_behind_0 add0r.
- by rewrite is_home add0r mul1r.
- rewrite add0r mul1r; case: ltngtP => [jn|nj|->]; last exact: is_end.
  + by have -> : n.+1 = (j.+1 + (n - j.+1).+1)%N; [lia|rewrite is_between].
  + have -> : (j.+1 - n.+1 = (j - n).-1.+1)%N by lia.
    have -> : j.+1%:Z = n.+1%:Z + (j - n).-1.+1%:Z by lia.
    by rewrite is_beyond.
- by rewrite NegzE is_behind add0r mul1r.
Qed.

(** For every W and K: what is drawn has the distribution of the chain given both neighbours. *)
Theorem bridge_is_mixture n j : bridge n j = mixture n j.
Proof.
case: n => n /=; first exact: bridge_ahead.
by rewrite NegzE -[j in LHS]opprK bridgeN bridge_ahead.
Qed.

(** The weights of the table are chances: not negative, and 1 together. *)
Lemma weights_ge0 : [&& 0 <= home, 0 <= across, 0 <= stays & 0 <= leaps].
Proof.
have s (x : F) : x < 1 -> 0 <= 1 - x by move=> x1; rewrite subr_ge0 ltW.
have d (x y : F) : x < y -> 0 <= y - x by move=> xy; rewrite subr_ge0 ltW.
have am1 := s _ (lt1 (ltW a0) a1 (ltW m0) m1); have ab1 := s _ (lt1 (ltW a0) a1 b0 b1).
have mb1 := s _ (lt1 (ltW m0) m1 b0 b1); have mm1 := s _ (lt1 (ltW m0) m1 (ltW m0) m1).
have aa1 := s _ (lt1 (ltW a0) a1 (ltW a0) a1).
have [A M] := (ltW a0, ltW m0); have [ma' bm'] := (d _ _ ma, d _ _ bm); have ba' := d _ _ ba.
have r0 : 0 <= rest by rewrite /rest !mulr_ge0 ?invr_ge0 ?mulr_ge0 // expr2.
by rewrite /home /across /stays /leaps; apply/and4P; split; rewrite !mulr_ge0 ?invr_ge0 ?mulr_ge0 ?expr2.
Qed.

Theorem weights_sum : home + across + stays + leaps = 1.
Proof. by rewrite /home /across /stays /leaps /rest; field; rewrite !facts. Qed.

Lemma idle_between : 0 <= idle <= 1.
Proof.
have := near_gt0; rewrite idle_near => D0; apply/andP; split; first by rewrite divr_ge0 ?(ltW D0) ?stay_ge0 ?a0 ?b0.
rewrite ler_pdivr_mulr // mul1r near ler_addl /spread.
have s (x : F) : x < 1 -> 0 <= 1 - x by move=> x1; rewrite subr_ge0 ltW.
have ab1 := s _ (lt1 (ltW a0) a1 b0 b1).
have [A A1] := (ltW a0, s _ a1); have B : 0 <= a - b by rewrite subr_ge0 ltW.
have A2 : 0 <= 1 + a by rewrite addr_ge0 ?ler01.
apply: divr_ge0; first by rewrite !mulr_ge0.
by apply: mulr_ge0 => //; apply: mulr_ge0 => //; exact: sqr_ge0.
Qed.

End Bridge.
