(define (domain rescue)
  (:requirements :strips :typing :action-costs)
  (:types
    agent way cell tool victim - object
    kit extinguisher - tool
  )
  (:constants
  )
  (:predicates
    (at ?a - agent ?c - cell)
    (clear ?c - cell)
    (not-clear ?c - cell)
    (next ?c - cell ?w - way ?to - cell)
    (facing ?a - agent ?w - way)
    (able ?a - agent ?c - cell)
    (free ?a - agent)
    (has ?a - agent ?t - tool)
    (lies ?t - tool ?c - cell)
    (debris ?c - cell)
    (burning ?c - cell)
    (quenched ?c - cell)
    (victim-at ?v - victim ?c - cell)
    (hidden ?v - victim)
    (known ?v - victim)
    (nurse ?a - agent)
    (firefighter ?a - agent)
    (police ?a - agent)
    (rescued)
  )
  (:functions (total-cost) - number)
  (:action walk
    :parameters (?a - agent ?c - cell ?w - way ?to - cell ?old - way)
    :precondition (and (at ?a ?c) (facing ?a ?old) (next ?c ?w ?to) (clear ?to))
    :effect (and (not (at ?a ?c)) (at ?a ?to) (clear ?c) (not (not-clear ?c)) (not (clear ?to)) (not-clear ?to) (not (facing ?a ?old)) (facing ?a ?w) (increase (total-cost) 1)))
  (:action turn
    :parameters (?a - agent ?c - cell ?w - way ?to - cell ?old - way)
    :precondition (and (at ?a ?c) (facing ?a ?old) (next ?c ?w ?to) (not-clear ?to))
    :effect (and (not (facing ?a ?old)) (facing ?a ?w) (increase (total-cost) 1)))
  (:action discover
    :parameters (?a - agent ?c - cell ?w - way ?to - cell ?v - victim)
    :precondition (and (at ?a ?c) (facing ?a ?w) (next ?c ?w ?to) (able ?a ?c) (victim-at ?v ?to) (hidden ?v))
    :effect (and (known ?v) (not (hidden ?v)) (increase (total-cost) 1)))
  (:action take
    :parameters (?a - agent ?c - cell ?w - way ?to - cell ?t - tool)
    :precondition (and (at ?a ?c) (facing ?a ?w) (next ?c ?w ?to) (able ?a ?c) (lies ?t ?to) (free ?a))
    :effect (and (has ?a ?t) (not (free ?a)) (not (lies ?t ?to)) (clear ?to) (not (not-clear ?to)) (increase (total-cost) 1)))
  (:action put
    :parameters (?a - agent ?c - cell ?w - way ?to - cell ?t - tool)
    :precondition (and (at ?a ?c) (facing ?a ?w) (next ?c ?w ?to) (able ?a ?c) (has ?a ?t) (clear ?to))
    :effect (and (lies ?t ?to) (free ?a) (not (has ?a ?t)) (not (clear ?to)) (not-clear ?to) (increase (total-cost) 1)))
  (:action hand-over
    :parameters (?a - agent ?c - cell ?w - way ?to - cell ?t - tool ?b - agent)
    :precondition (and (at ?a ?c) (facing ?a ?w) (next ?c ?w ?to) (able ?a ?c) (has ?a ?t) (at ?b ?to) (free ?b))
    :effect (and (has ?b ?t) (free ?a) (not (has ?a ?t)) (not (free ?b)) (increase (total-cost) 1)))
  (:action clear-debris
    :parameters (?a - agent ?c - cell ?w - way ?to - cell)
    :precondition (and (at ?a ?c) (facing ?a ?w) (next ?c ?w ?to) (able ?a ?c) (firefighter ?a) (debris ?to))
    :effect (and (clear ?to) (not (debris ?to)) (not (not-clear ?to)) (increase (total-cost) 1)))
  (:action extinguish
    :parameters (?a - agent ?c - cell ?w - way ?to - cell ?t - extinguisher)
    :precondition (and (at ?a ?c) (facing ?a ?w) (next ?c ?w ?to) (able ?a ?c) (firefighter ?a) (has ?a ?t) (burning ?to))
    :effect (and (clear ?to) (not (burning ?to)) (quenched ?to) (not (not-clear ?to)) (increase (total-cost) 1)))
)
