import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {Machine} from '../../api/machine.ts'
import {parseTimestamp} from '../../bootstrap/timestamp.ts'
import {MACHINE_APPROVER, recognise} from '../../csr/approvers.ts'
import {
  allHold,
  isUnknown,
  verdict,
  type ApproverOpinion,
  type RuleCode,
  type RuleVerdict,
  type Unknown,
} from '../../csr/opinion.ts'
import type {RequestedCertificate} from '../../csr/requested-certificate.ts'
import {machineOwner} from './address-book.ts'
import {isWithin, windowOf} from './machine-window.ts'
import {isSettled, nameRule, type NameClaims} from './name-rule.ts'
import {formatTimestamp} from '../../runtime.ts'

type Csr = Pick<CertificateSigningRequest, 'spec' | 'metadata'>

/** What the cluster knows of the machine that asks. */
export interface MachineSituation {
  /** Those with the node's name as their InternalDNS. */
  machines: readonly Machine[]
  /** Another node that the Machine is used for, by another of its names. */
  otherNode: string | undefined
  /** Undecided requests of the Machine for other keys. */
  rivals: readonly string[]
  claims: NameClaims
}

export interface MachineFacts {
  now: Date
  /** The bootstrapper's undecided requests of the last hour, and how many there may be. */
  pending: {count: number; most: number}
  situation: MachineSituation | Unknown
}

/** How many more requests than Machines may be undecided: OpenShift's figure. */
const MORE_THAN_MACHINES = 100

export const mostPending = (machines: number): number => machines + MORE_THAN_MACHINES

/** Requests that fail these rules are somebody else's. */
const OF_OTHERS: readonly RuleCode[] = [
  'signer',
  'requester-is-no-node',
  'requester-is-bootstrapper',
]

/** Why nothing is approved while too many requests wait. */
export const STOPPED = 'TooManyRequests'
/** The words for why a request is held, by the first rule that fails. */
const REASONS: Partial<Record<RuleCode, string>> = {
  'request-count': STOPPED,
  'node-absent': 'NodeExists',
  'machine-found': 'NoMachine',
  'machine-unused': 'MachineHasNode',
  'machine-expected': 'MachineNotExpected',
  'only-key': 'SeveralKeys',
  'node-name': 'NodeNameTaken',
}
const OTHERWISE = 'MachineHeld'

const nameOf = (machine: Machine): string => `Machine "${machineOwner(machine).name}"`

function countRule({count, most}: MachineFacts['pending']): RuleVerdict {
  return verdict(
    'request-count',
    'no more requests wait than there are Machines, and 100',
    count <= most,
    `${count} requests of the last hour wait, more than ${most}: nothing is approved until they are decided`,
  )
}

function foundRule(machines: readonly Machine[], node: string): RuleVerdict {
  const rule = "one Machine has the node's name as its InternalDNS"
  if (machines.length === 1) return verdict('machine-found', rule, true, 'there is one')
  const found =
    machines.length === 0
      ? `no Machine has the InternalDNS "${node}"`
      : `several Machines have the InternalDNS "${node}": ${machines.map(nameOf).join(', ')}`
  return verdict('machine-found', rule, false, found)
}

function unusedRule(machine: Machine, otherNode: string | undefined): RuleVerdict {
  const {nodeRef} = machine.status ?? {}
  const node = nodeRef ? (nodeRef.name ?? '') : otherNode
  const rule = 'the Machine has no node yet'
  return verdict(
    'machine-unused',
    rule,
    node === undefined,
    node === undefined ? 'it has none' : `${nameOf(machine)} is that of node "${node}"`,
  )
}

function expectedRule(machine: Machine, {metadata}: Csr): RuleVerdict {
  const rule =
    'the request was made from 10 s before to 2 h after the Machine was created or renewed'
  const made = parseTimestamp(metadata.creationTimestamp ?? '')
  const window = windowOf(machine)
  if (made === undefined || window === undefined) {
    return verdict('machine-expected', rule, false, 'the time of one of them cannot be read')
  }
  const {from, until} = window
  const found = `it was made at ${formatTimestamp(made)}, and ${nameOf(machine)} is expected from ${formatTimestamp(from)} to ${formatTimestamp(until)}`
  return verdict('machine-expected', rule, isWithin(window, made), found)
}

function rivalRule(rivals: readonly string[]): RuleVerdict {
  const rule = 'no other key asks for the Machine'
  const [first] = rivals
  if (first === undefined) return verdict('only-key', rule, true, 'there is none')
  // Neither a number nor a list: each change of the text would be another Event for each of them.
  const found =
    rivals.length === 1
      ? `request "${first}" asks with another key`
      : 'several requests ask with other keys'
  return verdict('only-key', rule, false, found)
}

function situationRules(
  csr: Csr,
  requested: RequestedCertificate,
  {machines, otherNode, rivals, claims}: MachineSituation,
  now: Date,
): RuleVerdict[] {
  const {node = ''} = requested
  const {nodeExists} = claims
  const [machine] = machines
  const found = foundRule(machines, node)
  const from = {
    requester: csr.spec.username ?? '',
    revision: csr.metadata.resourceVersion ?? '',
  }
  return [
    verdict(
      'node-absent',
      'there is no Node of that name yet',
      !nodeExists,
      nodeExists ? `Node "${node}" exists: it should renew` : 'there is none',
    ),
    found,
    ...(machine === undefined || !found.holds
      ? []
      : [unusedRule(machine, otherNode), expectedRule(machine, csr)]),
    // The Node has a rule of its own here, which no grant overrides.
    nameRule(requested, from, {...claims, nodeExists: false}, now),
    ...(isSettled(requested, claims, now) ? [] : [rivalRule(rivals)]),
  ]
}

/**
 * Approves the first certificate of a machine if the inventory expects it: the fleet's bootstrapper asks, for a node that does
 * not exist, in the name of a Machine that was created or renewed lately and has no node. Never denies. As OpenShift's machine
 * approver; in addition, a name that has a certificate is not given to another key, and of several keys none gets it.
 */
export function machineOpinion(
  csr: Csr,
  requested: RequestedCertificate,
  facts: MachineFacts | undefined,
): ApproverOpinion {
  const {name: approver} = MACHINE_APPROVER
  const recognised = recognise(MACHINE_APPROVER, csr, requested)
  const isOthers = recognised.some(({code, holds}) => !holds && OF_OTHERS.includes(code))
  if (facts === undefined || isOthers) return {approver, decision: 'ignore', rules: recognised}
  const {pending, situation, now} = facts
  const rules = [
    ...recognised,
    countRule(pending),
    ...(isUnknown(situation)
      ? [
          verdict(
            'machine-found',
            'it is known whose machine it is',
            false,
            `not known: ${situation.unknown}`,
          ),
        ]
      : situationRules(csr, requested, situation, now)),
  ]
  if (allHold(rules)) return {approver, decision: 'approve', rules}
  const {code} = rules.find(({holds}) => !holds) ?? {}
  return {approver, decision: 'hold', rules, reason: (code && REASONS[code]) ?? OTHERWISE}
}
