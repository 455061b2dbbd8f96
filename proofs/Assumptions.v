(** What every theorem rests on. Each line must print "Closed under the global context": no axiom, nothing left open. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Utmost Require Import Sums Geometric Staircase Bridge Release Counting Ledger.
Print Assumptions tsg_sums.
Print Assumptions tsg_private.
Print Assumptions tsg_attained.
Print Assumptions tighten_sums.
Print Assumptions tighten_chain.
Print Assumptions tighten_law.
Print Assumptions bridge_is_mixture.
Print Assumptions weights_sum.
Print Assumptions idle_between.
Print Assumptions staircase_private.
Print Assumptions staircase_attained.
Print Assumptions staircase_sums.
Print Assumptions draw_sums.
Print Assumptions forget.
Print Assumptions any_order.
Print Assumptions release_private.
Print Assumptions table_private.
Print Assumptions one_requester.
Print Assumptions few_atoms.
Print Assumptions little_each.
Print Assumptions unit_of_privacy.
Print Assumptions one_answer.
Print Assumptions store_sees_one.
Print Assumptions nothing_lost.
(** The field may be that of the fractions; or the reals of any library that makes them an archimedean field. *)
Check (@release_private [archiFieldType of rat]).
