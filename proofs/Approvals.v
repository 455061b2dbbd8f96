(** A service in which two persons decide: what is published is what was approved, whole, and was approved by another.

    A proposal holds a promise, in one object; whoever publishes brings one, too. Any persons send any requests, in any
    order, at the same time: each is one transaction, of the function [serve], which looks before it changes anything and
    otherwise leaves all as it is. The code is interfaces/service/approvals.py and terms.py; that it makes these comparisons,
    and tells persons apart, is tested and not proved. *)
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

(** What anybody may send, whoever they are and whatever they claim. *)
Inductive request :=
| ToPropose of name & person & promise & bool
| ToDecide of name & person & bool
| ToPublish of name & person & promise.

Definition is_waiting d := if d is Waiting then true else false.
Definition is_approved d := if d is Approved _ then true else false.

(** The service: what does not pass its comparisons changes nothing. *)
Definition serve (s : state) (r : request) : state :=
  match r with
  | ToPropose n p m any =>
      if proposals s n is Some _ then s else State (put s n (Proposal p m any Waiting)) (publications s)
  | ToDecide n q yes =>
      if proposals s n is Some r then
        if is_waiting (decided r) && (q != by_ r) then
          State (put s n (Proposal (by_ r) (what r) (anyone r) (if yes then Approved q else Refused q))) (publications s)
        else s
      else s
  | ToPublish n p m =>
      if proposals s n is Some r then
        if [&& is_approved (decided r), m == what r & anyone r || (p == by_ r)] then
          State (proposals s) (Publication n p m :: publications s)
        else s
      else s
  end.

Lemma serve_steps s r : serve s r = s \/ step s (serve s r).
Proof.
case: r => [n p m any|n q yes|n p m] /=; case E: (proposals s n) => [r|]; try by left.
- by right; exact: Propose.
- case: ifP => [/andP[w a]|_]; last by left.
  right; apply: (Decide (r := r) E _ a); last by case: yes; [left|right].
  by move: w; case: (decided r).
- case: ifP => [/and3P[a /eqP w pr]|_]; last by left.
  move: a; case D: (decided r) => [|q|q] // _.
  by right; exact: (Publish (q := q) E D w pr).
Qed.

(** Whatever comes, in whatever order: what is published was approved, whole, by another than proposed it. *)
Theorem whatever_comes rs e : List.In e (publications (foldl serve start rs)) -> allowed (foldl serve start rs) e.
Proof.
apply: approved_whole; elim/last_ind: rs => [|rs r IH]; first exact: Started.
rewrite -cats1 foldl_cat /=; case: (serve_steps (foldl serve start rs) r) => [->|st] //.
exact: (Stepped IH st).
Qed.

(** And nothing is refused that should pass: what was approved can be published, by whoever may. *)
Theorem approved_passes s n p q r : proposals s n = Some r -> decided r = Approved q -> anyone r || (p == by_ r) ->
  publications (serve s (ToPublish n p (what r))) = Publication n p (what r) :: publications s.
Proof. by move=> /= -> -> ->; rewrite eqxx. Qed.
End Approvals.
