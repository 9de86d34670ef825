(define (domain overcooked)
  (:requirements :strips :typing :action-costs)
  (:types
    chef way thing recipe place - object
    floor station - place
    counter pot dispenser serving - station
    onions tomatoes dishes - dispenser
  )
  (:constants
  )
  (:predicates
    (at ?c - chef ?f - floor)
    (clear ?p - place) ; a floor without a chef, a counter without a thing
    (next ?f - floor ?w - way ?p - place)
    (facing ?c - chef ?w - way)
    (free ?c - chef)
    (holding ?c - chef ?t - thing)
    (on ?t - thing ?k - counter)
    (gives ?d - dispenser ?t - thing)
    (contains ?p - pot ?r - recipe)
    (grows ?r - recipe ?t - thing ?more - recipe)
    (empty ?r - recipe)
    (fills ?r - recipe) ; cooking begins by itself
    (room-in ?r - recipe) ; it does not
    (open ?p - pot) ; not cooking
    (cooking ?p - pot)
    (dish ?t - thing)
    (soup-of ?t - thing ?r - recipe)
    (ordered ?r - recipe)
    (delivered)
  )
  (:functions (total-cost) - number)
  (:action walk
    :parameters (?c - chef ?f - floor ?to - floor ?w - way ?old - way)
    :precondition (and (at ?c ?f) (facing ?c ?old) (next ?f ?w ?to) (clear ?to))
    :effect (and (not (at ?c ?f)) (at ?c ?to) (clear ?f) (not (clear ?to)) (not (facing ?c ?old)) (facing ?c ?w) (increase (total-cost) 1)))
  (:action turn
    :parameters (?c - chef ?f - floor ?s - station ?w - way ?old - way)
    :precondition (and (at ?c ?f) (facing ?c ?old) (next ?f ?w ?s))
    :effect (and (not (facing ?c ?old)) (facing ?c ?w) (increase (total-cost) 1)))
  (:action fetch
    :parameters (?c - chef ?f - floor ?w - way ?s - dispenser ?t - thing)
    :precondition (and (at ?c ?f) (facing ?c ?w) (next ?f ?w ?s) (free ?c) (gives ?s ?t))
    :effect (and (holding ?c ?t) (not (free ?c)) (increase (total-cost) 1)))
  (:action put-down
    :parameters (?c - chef ?f - floor ?w - way ?s - counter ?t - thing)
    :precondition (and (at ?c ?f) (facing ?c ?w) (next ?f ?w ?s) (holding ?c ?t) (clear ?s))
    :effect (and (on ?t ?s) (free ?c) (not (holding ?c ?t)) (not (clear ?s)) (increase (total-cost) 1)))
  (:action pick-up
    :parameters (?c - chef ?f - floor ?w - way ?s - counter ?t - thing)
    :precondition (and (at ?c ?f) (facing ?c ?w) (next ?f ?w ?s) (on ?t ?s) (free ?c))
    :effect (and (holding ?c ?t) (clear ?s) (not (on ?t ?s)) (not (free ?c)) (increase (total-cost) 1)))
  (:action pot
    :parameters (?c - chef ?f - floor ?w - way ?s - pot ?t - thing ?r - recipe ?more - recipe)
    :precondition (and (at ?c ?f) (facing ?c ?w) (next ?f ?w ?s) (holding ?c ?t) (open ?s) (contains ?s ?r) (grows ?r ?t ?more) (room-in ?more))
    :effect (and (contains ?s ?more) (not (contains ?s ?r)) (free ?c) (not (holding ?c ?t)) (increase (total-cost) 1)))
  (:action pot-last
    :parameters (?c - chef ?f - floor ?w - way ?s - pot ?t - thing ?r - recipe ?more - recipe)
    :precondition (and (at ?c ?f) (facing ?c ?w) (next ?f ?w ?s) (holding ?c ?t) (open ?s) (contains ?s ?r) (grows ?r ?t ?more) (fills ?more))
    :effect (and (contains ?s ?more) (not (contains ?s ?r)) (free ?c) (not (holding ?c ?t)) (cooking ?s) (not (open ?s)) (increase (total-cost) 1)))
  (:action cook
    :parameters (?c - chef ?f - floor ?w - way ?s - pot ?r - recipe ?t - thing)
    :precondition (and (at ?c ?f) (facing ?c ?w) (next ?f ?w ?s) (free ?c) (open ?s) (contains ?s ?r) (soup-of ?t ?r))
    :effect (and (cooking ?s) (not (open ?s)) (increase (total-cost) 1)))
  (:action plate
    :parameters (?c - chef ?f - floor ?w - way ?s - pot ?t - thing ?r - recipe ?soup - thing ?none - recipe)
    :precondition (and (at ?c ?f) (facing ?c ?w) (next ?f ?w ?s) (holding ?c ?t) (dish ?t) (cooking ?s) (contains ?s ?r) (soup-of ?soup ?r) (empty ?none))
    :effect (and (holding ?c ?soup) (not (holding ?c ?t)) (not (cooking ?s)) (open ?s) (contains ?s ?none) (not (contains ?s ?r)) (increase (total-cost) 1)))
  (:action serve
    :parameters (?c - chef ?f - floor ?w - way ?s - serving ?t - thing ?r - recipe)
    :precondition (and (at ?c ?f) (facing ?c ?w) (next ?f ?w ?s) (holding ?c ?t) (soup-of ?t ?r) (ordered ?r))
    :effect (and (delivered) (free ?c) (not (holding ?c ?t)) (increase (total-cost) 1)))
)
