(** Half-step noise: a uniform place within a block of D = 2h + 1 integers, and D times geometric noise.

    The place of a cell is drawn once and kept; its multiple of the block goes from level to level as geometric noise
    does. So a response is value + place + D multiple. proofs/theory/gradual-release.md; the code is `Lattice`. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import zify ring.
From Utmost Require Import Sums Geometric Staircase Release.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.TTheory.
Local Open Scope ring_scope.

Section Shift.
Variable F : archiFieldType.
Notation response := (F * int)%type.

(** A chain depends on differences alone. *)
Definition moved (c : int) (p : response) : response := (p.1, p.2 + c).

Lemma link_moved c (p q : response) : link (moved c p) (moved c q) = link p q.
Proof. by rewrite /link /=; congr (tighten _ _ _); lia. Qed.

Lemma draw_moved c (p : response) s x k : draw (moved c p) (map (moved c) s) x (k + c) = draw p s x k.
Proof.
have L p' : link (moved c p') (x, k + c) = link p' (x, k) by rewrite -[(x, k + c)]/(moved c (x, k)) link_moved.
elim: s p => [|q s IH] p /=; first exact: L.
by case: ifP => // _; rewrite L -[(x, k + c)]/(moved c (x, k)) !link_moved.
Qed.

Lemma insert_moved c (s : seq response) x k : insert (map (moved c) s) x (k + c) = map (moved c) (insert s x k).
Proof. by elim: s => //= q s IH; case: ifP => _ //=; rewrite IH. Qed.

Lemma known_moved c (t : seq response) : known (map (moved c) t) = map (moved c) (known t).
Proof. by elim: t => //= -[x k] t IH; rewrite -insert_moved -IH. Qed.

Notation unasked := (fun _ _ => 1).
Lemma chance_moved c u (t : seq response) : chance unasked (u + c) (map (moved c) t) = chance unasked u t.
Proof.
elim: t => //= -[x k] t IH; rewrite IH /= known_moved.
by rewrite -[(0, u + c)]/(moved c (0, u)) draw_moved.
Qed.
End Shift.

Lemma draw_gt0 (F : archiFieldType) (p : F * int) s x k :
  0 <= p.1 -> rising p s -> fresh p s x -> 0 < draw p s x k.
Proof.
elim: s p => [|q s IH] p p0 /=; first by move=> _ /andP[px _]; apply: link_gt0.
case/andP=> pq qs fx; have px : p.1 < x < 1 by case/andP: fx.
case: ifP => xq; last first.
  by apply: IH (fresh_cons fx xq) => //; apply: le_trans p0 (ltW _); case/andP: pq.
have [/andP[px1 x1] /andP[_ q1]] := (px, pq).
by rewrite divr_gt0 ?mulr_gt0 ?link_gt0 ?xq ?(le_trans p0 (ltW px1)).
Qed.

Section HalfStep.
Variable F : archiFieldType.
Variable h : nat.
Notation response := (F * int)%type.
Notation D := (2 * h).+1.

(** An integer is D times its block, and a place between -h and h. *)
Definition block (z : int) : int := ((z + h%:Z) %/ D%:Z)%Z.
Definition alike (y z : int) : bool := (y == z %[mod D%:Z])%Z.

Lemma block_between z : D%:Z * block z <= z + h%:Z < D%:Z * block z + D%:Z.
Proof.
have E := divz_eq (z + h%:Z) D%:Z; have m0 := modz_ge0 (z + h%:Z) (isT : D%:Z != 0).
have m1 := ltz_pmod (z + h%:Z) (isT : 0 < D%:Z).
move: E m0 m1; rewrite -/(block z) mulrC; move: (modz _ _) (_ * block z) => m q; lia.
Qed.

Lemma block_only z q : D%:Z * q <= z + h%:Z < D%:Z * q + D%:Z -> block z = q.
Proof.
have := block_between z; move: (block z) => b zb zq.
have [lt|lt|//] := ltgtP b q.
- have : 0 <= D%:Z * (q - b - 1) by apply: mulr_ge0 => //; lia.
  rewrite !mulrBr mulr1; move: (D%:Z * q) (D%:Z * b) zb zq => Dq Db; lia.
- have : 0 <= D%:Z * (b - q - 1) by apply: mulr_ge0 => //; lia.
  rewrite !mulrBr mulr1; move: (D%:Z * q) (D%:Z * b) zb zq => Dq Db; lia.
Qed.

Lemma block_plus z m : block (z + D%:Z * m) = block z + m.
Proof.
apply: block_only; have := block_between z; rewrite mulrDr; move: (D%:Z * _) (D%:Z * m) => b m'; lia.
Qed.

(** A move by no more than a block changes the block by one at most. *)
Lemma block_near z d : (`|d| <= D)%N -> (`|block (z - d) - block z| <= 1)%N.
Proof.
move=> dD; have := block_between z; have := block_between (z - d).
move: (block z) (block (z - d)) => b b' zb' zb.
have up : b' - b <= 1.
  rewrite leNgt; apply/negP => lt; have : 0 <= D%:Z * (b' - b - 2%:Z) by apply: mulr_ge0 => //; lia.
  rewrite !mulrBr; move: (D%:Z * b) (D%:Z * b') zb zb' => B B'; lia.
have down : b - b' <= 1.
  rewrite leNgt; apply/negP => lt; have : 0 <= D%:Z * (b - b' - 2%:Z) by apply: mulr_ge0 => //; lia.
  rewrite !mulrBr; move: (D%:Z * b) (D%:Z * b') zb zb' => B B'; lia.
lia.
Qed.

Lemma alikeP y z : reflect (exists m, y = z + D%:Z * m) (alike y z).
Proof.
rewrite /alike; apply: (iffP idP) => [|[m ->]]; last by rewrite addrC mulrC modzMDl.
rewrite eqz_mod_dvd => /dvdzP[m E]; exists m; rewrite mulrC; lia.
Qed.

Lemma alike_block u y z : alike y z -> exists m, y = z + D%:Z * m /\ block (y - u) = block (z - u) + m.
Proof.
move=> /alikeP[m ->]; exists m; split=> //; rewrite -block_plus; congr block; lia.
Qed.

(** * What is drawn

    A transcript lists levels and responses, the latest first. The first response puts a cell at a place, each of D alike;
    later ones keep it, and their blocks are drawn as a chain's. *)
Implicit Types (u v : int) (t : seq response).
Definition blocks u t : seq response := [seq (p.1, block (p.2 - u)) | p <- t].
Definition placed t (y : int) : F := if t is p :: _ then (alike y p.2)%:R else D%:R^-1.
Definition half_draw u t x y : F := draw (0, 0) (known (blocks u t)) x (block (y - u)) * placed t y.

(** The first response is the value and a discrete staircase, with a period of D and a step of h + 1. *)
Lemma block_abs z : (`|block z| = (`|z| + h) %/ D)%N.
Proof.
have between n m : (m * D <= n < m * D + D)%N -> (n %/ D = m)%N.
  move=> nm; have -> : (n = m * D + (n - m * D))%N by lia.
  rewrite divnMDl // divn_small ?addn0 //; lia.
apply/esym/between; have := block_between z; move: (block z) => b.
have [n [->|->]] : exists n, b = n%:Z \/ b = - n.+1%:Z by case: b => n; exists n; [left|right; rewrite NegzE].
- have -> : D%:Z * n%:Z = (n * D)%N%:Z by rewrite PoszM mulrC.
  have : n = 0%N \/ (D <= n * D)%N by case: n => [|n]; [left|right; rewrite leq_pmull].
  rewrite absz_nat => -[->|]; [|move: (n * D)%N => B]; lia.
have -> : D%:Z * - n.+1%:Z = - (n.+1 * D)%N%:Z by rewrite PoszM mulrN mulrC.
have : (D <= n.+1 * D)%N by rewrite leq_pmull.
rewrite abszN absz_nat; move: (n.+1 * D)%N => B; lia.
Qed.

Theorem half_is_staircase (a : F) z : 0 < a < 1 -> tsg a (block z) / D%:R = staircase a D h.+1 z.
Proof.
move=> /andP[a0 a1]; rewrite /staircase /fallen.
have -> : (`|z| + D - h.+1 = `|z| + h)%N by lia.
rewrite -block_abs /tsg /total; have -> : ((2 * h.+1).-1 = D)%N by lia.
rewrite natrM; have n0 : 0 < 1 + 2%:R * h%:R :> F by rewrite ltr_paddr ?ltr01 ?mulr_ge0 ?ler0n.
have p0 : 0 < 1 + a by rewrite addr_gt0 ?ltr01.
move: (a ^+ _) => A; field.
have -> : (1 + 2%:R * h%:R) * (1 - a) + 2%:R * (1 + 2%:R * h%:R) * a = (1 + 2%:R * h%:R) * (1 + a) by ring.
by rewrite mulf_eq0 negb_or !gt_eqF ?subr_gt0.
Qed.


Lemma proper_blocks u t : proper (blocks u t) = proper t.
Proof. by rewrite /proper /blocks all_map -map_comp. Qed.

(** A place is kept: a distribution of blocks, over the responses that are alike, has the mass that it had. *)
Lemma sums_to_class (f : int -> F) u y0 m : (forall k, 0 <= f k) -> sums_to f m ->
  sums_to (fun y => f (block (y - u)) * (alike y y0)%:R) m.
Proof.
move=> f0 [below near]; split=> [s us|eps eps0].
  have -> : sum_in (fun y => f (block (y - u)) * (alike y y0)%:R) s
          = sum_in f [seq block (y - u) | y <- s & alike y y0].
    rewrite /sum_in big_map big_filter [LHS](bigID (fun y => alike y y0)) /= [X in _ + X]big1 ?addr0.
      by apply: eq_bigr => y ->; rewrite mulr1.
    by move=> y /negbTE ->; rewrite mulr0.
  apply: below; rewrite map_inj_in_uniq ?filter_uniq // => y z; rewrite !mem_filter => /andP[ya _] /andP[za _].
  case/(alike_block u): ya => n [-> ->]; case/(alike_block u): za => n' [-> ->]; lia.
case: (near eps eps0) => s us lt; pose back (k : int) : int := y0 + D%:Z * (k - block (y0 - u)).
have B k : block (back k - u) = k.
  have -> : back k - u = (y0 - u) + D%:Z * (k - block (y0 - u)) by rewrite /back; lia.
  by rewrite block_plus; lia.
exists (map back s); first by rewrite map_inj_uniq // => k l /(congr1 (fun y => block (y - u))); rewrite !B.
apply: lt_le_trans lt _; rewrite /sum_in big_map le_eqVlt; apply/orP; left; apply/eqP/eq_bigr => k _.
rewrite B; have -> : alike (back k) y0 by apply/alikeP; exists (k - block (y0 - u)).
by rewrite mulr1.
Qed.

(** Each response has mass 1, given all before it. *)
Theorem half_draw_sums u t x : proper t -> 0 < x < 1 -> x \notin [seq p.1 | p <- t] -> sums_to (half_draw u t x) 1.
Proof.
move=> pt x01 xt; have fx : fresh (0, 0) (known (blocks u t)) x.
  by apply: fresh_known => //; rewrite /blocks -map_comp.
have rx : rising (0, 0) (known (blocks u t)) by apply: rising_known; rewrite proper_blocks.
case: t pt xt fx rx => [|p t] pt xt fx rx.
  have S := staircase_sums (b := x) (D := D) (r := h.+1); case/andP: (x01) => x0 x1.
  have := sums_to_shift u (S x0 x1 isT _); have hD : (h.+1 <= D)%N by lia.
  move=> /(_ hD); apply: eq_sums_to => y.
  by rewrite /half_draw [draw _ _ _ _]alone subr0 /= -half_is_staircase.
apply: sums_to_class (draw_sums _ rx fx) => // k; apply: ltW; exact: draw_gt0.
Qed.

(** * Requests, chosen by all responses before them *)
Variable asks : seq response -> F -> F.
Hypothesis asks_ge0 : forall t x, 0 <= asks t x.

Fixpoint half_chance u t : F :=
  if t is (x, y) :: t' then half_chance u t' * (asks t' x * half_draw u t' x y) else 1.

(** What does not depend on the value: the requests, and where the cell was put. *)
Fixpoint outward t : F := if t is (x, y) :: t' then outward t' * (asks t' x * placed t' y) else 1.

Lemma outward_ge0 t : 0 <= outward t.
Proof.
elim: t => [|[x y] t IH] /=; first exact: ler01.
by rewrite mulr_ge0 // mulr_ge0 //; case: t {IH} => [|p t] /=; rewrite ?invr_ge0 ler0n.
Qed.

Lemma half_chance_blocks u t : half_chance u t = outward t * chance (fun _ _ => 1) 0 (blocks u t).
Proof.
elim: t => [|[x y] t IH] /=; first by rewrite mulr1.
by rewrite IH /half_draw mul1r -/(blocks u t); move: (chance _ _ _) (draw _ _ _ _) => c d; ring.
Qed.

(** All responses are at the place of the first. *)
Lemma one_place p0 t : outward (p0 :: t) != 0 -> {in p0 :: t, forall p, alike p.2 (last p0 t).2}.
Proof.
elim: t p0 => [|p1 t IH] [x y] nz p; first by rewrite inE => /eqP ->; rewrite /alike.
move: nz; rewrite /= -/(outward (p1 :: t)) !mulf_eq0 !negb_or => /and3P[nz _ ok].
rewrite inE => /predU1P[->|]; last exact: IH.
have y1 : alike y p1.2 by move: ok; case: (alike y p1.2); rewrite ?eqxx.
have := IH p1 nz p1 (mem_head _ _); move: y1; rewrite /alike /= => /eqP ->; exact.
Qed.

(** Two values see the blocks of responses at one place moved by the same. *)
Lemma blocks_moved u v t : outward t != 0 -> (`|u - v| <= D)%N ->
  exists c, (`|c| <= 1)%N /\ blocks v t = map (moved c) (blocks u t).
Proof.
case: t => [|p0 t]; first by exists 0.
move=> /one_place A uv; move: (last p0 t).2 A => y0 A; pose c := block (y0 - v) - block (y0 - u).
exists c; split.
  have -> : c = block ((y0 - u) - (v - u)) - block (y0 - u) by rewrite /c; congr (block _ - _); lia.
  by apply: block_near; lia.
rewrite /blocks -map_comp; apply/eq_in_map => p /A pa; rewrite /moved /=; congr (_, _).
have [m [_ Bv]] := alike_block v pa; have [m' [E Bu]] := alike_block u pa.
have [n [E' Bv']] := alike_block v pa.
have mm : m' = n.
  have : D%:Z * m' = D%:Z * n by move: E E'; move: (D%:Z * _) (D%:Z * n) => A1 A2; lia.
  by apply: mulfI.
rewrite Bv' Bu /c mm; lia.
Qed.

(** Everything ever said is as private as the highest level by itself: a value may move by the whole block. *)
Theorem half_private u v t a : proper t -> (`|u - v| <= D)%N -> 0 <= a <= 1 -> (forall p, p \in t -> a <= p.1) ->
  a * half_chance u t <= half_chance v t.
Proof.
move=> pt uv /andP[a0 a1] least; rewrite !half_chance_blocks.
have [->|nz] := eqVneq (outward t) 0; first by rewrite !mul0r mulr0.
have [c [c1 ->]] := blocks_moved nz uv; rewrite mulrCA ler_wpmul2l ?outward_ge0 //.
have -> : chance (fun _ _ => 1) 0 (map (moved c) (blocks u t)) = chance (fun _ _ => 1) (- c) (blocks u t).
  by rewrite -(chance_moved c (- c)) addNr.
have R : a ^+ `|0 - - c|%N * chance (fun _ _ => 1) 0 (blocks u t) <= chance (fun _ _ => 1) (- c) (blocks u t).
  apply: release_private => [x k||| p /mapP[q qt ->]]; [exact: ler01|by rewrite proper_blocks|by rewrite a0|exact: (least q qt)].
apply: le_trans R; rewrite ler_wpmul2r //.
  rewrite any_order ?proper_blocks // mulr_ge0 //; first by elim: (blocks u t) => [|[x k] s IH] /=; rewrite ?mulr1 ?ler01.
  by rewrite ltW // joint_gt0 // rising_known // proper_blocks.
rewrite sub0r opprK; move: c1; case: `|c|%N => [|[|n]] // _; by rewrite expr0.
Qed.

End HalfStep.

(** * Tables with half-step noise

    One requester over all cells, of which each has its own share of a level: a table costs the highest level once for
    each cell that changes, by whatever it changes within its block. *)
Section HalfTable.
Variables (F : archiFieldType) (h : nat) (cell : finType) (share : cell -> F -> F).
Notation numbers := (cell -> int).
Notation D := (2 * h).+1.
Variable asks_all : seq (F * numbers) -> F -> F.
Hypothesis asks_all_ge0 : forall t x, 0 <= asks_all t x.
Notation one := (fun (_ : seq (F * int)) (_ : F) => 1 : F).

Fixpoint half_chances (u : numbers) (t : seq (F * numbers)) : F :=
  if t is (x, k) :: t' then
    half_chances u t' * (asks_all t' x * \prod_i half_draw h (u i) (row share t' i) (share i x) (k i))
  else 1.

Lemma half_chances_rows u t :
  half_chances u t = requests_all asks_all t * \prod_i half_chance h one (u i) (row share t i).
Proof.
elim: t => [|[x k] t IH] /=; first by rewrite big1 ?mulr1.
by rewrite IH mulrACA -big_split /=; congr (_ * _); apply: eq_bigr => i _; rewrite mul1r.
Qed.

Lemma half_chance_ge0 z (t : seq (F * int)) : proper t -> 0 <= half_chance h one z t.
Proof.
move=> pt; rewrite half_chance_blocks mulr_ge0 ?outward_ge0 //; first by move=> *; exact: ler01.
have pb : proper (blocks h z t) by rewrite proper_blocks.
rewrite any_order // mulr_ge0 //; last by rewrite ltW // joint_gt0 // rising_known.
by elim: (blocks h z t) => [|[x k] s IH] /=; rewrite ?mulr1 ?ler01.
Qed.

Theorem half_table u v (t : seq (F * numbers)) (a : cell -> F) : (forall i, proper (row share t i)) ->
  (forall i, (`|u i - v i| <= D)%N) -> (forall i, 0 <= a i <= 1) -> (forall i p, p \in row share t i -> a i <= p.1) ->
  (\prod_(i | u i != v i) a i) * half_chances u t <= half_chances v t.
Proof.
move=> pt uv a01 least; rewrite !half_chances_rows mulrCA ler_wpmul2l //.
  by elim: (t) => [|[x k] s IH] /=; rewrite ?ler01 // mulr_ge0.
rewrite big_mkcond /= -big_split /=; apply: ler_prod => i _; have /andP[a0 _] := a01 i.
have ge0 := half_chance_ge0 (u i) (pt i).
case: eqVneq => [<-|_] /=; first by rewrite mul1r ge0 lexx.
rewrite mulr_ge0 //=; apply: half_private => //; [by move=> *; exact: ler01|exact: least].
Qed.
End HalfTable.
