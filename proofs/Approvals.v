(** A service in which two persons decide: what is published is what was approved, whole, and was approved by another.

    A proposal holds a promise, in one object; whoever publishes brings one, too. Any persons, in any order, at the same
    time: each step below is one transaction. The code is doors/service/approvals.py and terms.py. *)
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.

Section Approvals.
Variables (name person promise : eqType).

Inductive decision := Waiting | Approved of person | Refused of person.
Record proposal := Proposal { by_ : person; what : promise; anyone : bool; decided : decision }.
Record publication := Publication { of_ : name; publisher : person; published : promise }.
Record state := State { proposals : name -> option proposal; publications : seq publication }.

Definition start := State (fun=> None) [::].
Definition put (s : state) n p := fun m => if m == n then Some p else proposals s m.

Inductive step (s : state) : state -> Prop :=
(** A name is given once. *)
| Propose n p m any : proposals s n = None ->
    step s (State (put s n (Proposal p m any Waiting)) (publications s))
(** Anybody else decides, once. *)
| Decide n q r d : proposals s n = Some r -> decided r = Waiting -> q != by_ r -> d = Approved q \/ d = Refused q ->
    step s (State (put s n (Proposal (by_ r) (what r) (anyone r) d)) (publications s))
(** Whoever publishes brings a promise; it must be the one that was approved, and the proposer unless it says otherwise. *)
| Publish n p q r m : proposals s n = Some r -> decided r = Approved q -> m = what r -> anyone r || (p == by_ r) ->
    step s (State (proposals s) (Publication n p m :: publications s)).

Inductive reachable : state -> Prop :=
| Started : reachable start
| Stepped s t : reachable s -> step s t -> reachable t.

(** What allows a publication is kept for ever. *)
Definition allowed (s : state) (e : publication) : Prop := exists r q,
  [/\ proposals s (of_ e) = Some r, decided r = Approved q, q != by_ r, what r = published e &
      anyone r || (publisher e == by_ r)].

Lemma apart s : reachable s -> forall n r q, proposals s n = Some r -> decided r = Approved q -> q != by_ r.
Proof.
elim=> [|{}s t _ IH st] n r q //; case: st IH => [m p w any _|m o r' d E _ no dd|m p o r' w _ _ _ _] IH /=; last exact: IH.
- by rewrite /put; case: eqP => _; [case=> <-|exact: IH].
- rewrite /put; case: eqP => _; last exact: IH.
  by case=> <- /=; case: dd => -> // [<-].
Qed.

Lemma stays s t e : step s t -> allowed s e -> allowed t e.
Proof.
case=> [n p w any no|n o r d E wait _ _|n p o r w _ _ _ _] [r' [q [E' a' q' w' p']]]; exists r', q; split=> //=; rewrite /put.
- by case: eqP => // en; rewrite en no in E'.
- by case: eqP => // en; move: E'; rewrite en E => -[rr]; move: a'; rewrite -rr wait.
Qed.

(** Everything that is published was approved, field for field, by another person than proposed it. *)
Theorem approved_whole s e : reachable s -> List.In e (publications s) -> allowed s e.
Proof.
elim=> [|{}s t rs IH st] //; have later := @stays s t e st.
case: st later => [n p w any _|n o r d _ _ _ _|n p o r w E a wr pr] later; try by move=> /IH /later.
case=> [<-|/IH /later //]; exists r, o; split=> //=; exact: (apart rs E a).
Qed.
End Approvals.
