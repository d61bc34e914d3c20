import assert from 'node:assert/strict'
import {namespaceLifecycle, priorityAdmission} from '../../../src/server/admission/index.ts'
import type {StatusError} from '../../../src/server/kernel/status.ts'
import {admit, type Situation, type Wish} from './support.ts'

const object = {metadata: {name: 'x'}}
const objects = {
  'namespaces//live': {metadata: {}, status: {phase: 'Active'}},
  'namespaces//dying': {metadata: {}, status: {phase: 'Terminating'}},
}
const inside = (namespace: string): Situation => ({namespace, objects})

const admitted: [string, Wish, Situation][] = [
  ['a create in a live namespace', {resource: 'configmaps', object}, inside('live')],
  [
    'an update in a dying namespace',
    {resource: 'configmaps', verb: 'update', object},
    inside('dying'),
  ],
  [
    'a delete in a dying namespace',
    {resource: 'configmaps', verb: 'delete', name: 'x'},
    inside('dying'),
  ],
  [
    'a delete in a missing namespace',
    {resource: 'configmaps', verb: 'delete', name: 'x'},
    inside('gone'),
  ],
  ['a cluster-wide object', {resource: 'nodes', object}, inside('')],
  ['a new namespace', {resource: 'namespaces', object}, inside('')],
  ['the end of any namespace', {resource: 'namespaces', verb: 'delete', name: 'live'}, inside('')],
  [
    'a review in a missing namespace',
    {resource: 'localsubjectaccessreviews', object},
    inside('gone'),
  ],
]

const refused: [string, Wish, Situation, number, string][] = [
  [
    'a create in a missing namespace',
    {resource: 'configmaps', object},
    inside('gone'),
    404,
    'namespaces "gone" not found',
  ],
  [
    'a create in a dying namespace',
    {resource: 'configmaps', object},
    inside('dying'),
    403,
    'configmaps "x" is forbidden: unable to create new content in namespace dying because it is being terminated',
  ],
  ...['default', 'kube-system', 'kube-public', 'trustadm-system'].map(
    (name): [string, Wish, Situation, number, string] => [
      `the end of ${name}`,
      {resource: 'namespaces', verb: 'delete', name},
      inside(''),
      403,
      `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    ],
  ),
]

describe('NamespaceLifecycle', () => {
  for (const [name, wish, situation] of admitted) {
    it(`admits ${name}`, async () => {
      await admit(namespaceLifecycle, wish, situation)
    })
  }

  for (const [name, wish, situation, code, message] of refused) {
    it(`refuses ${name}`, async () => {
      await assert.rejects(admit(namespaceLifecycle, wish, situation), {code, message})
    })
  }

  it('gives the cause that clients look for', async () => {
    const attempt = admit(namespaceLifecycle, {resource: 'configmaps', object}, inside('dying'))
    await assert.rejects(attempt, (error: StatusError) => {
      assert.deepEqual(error.status.details, {
        name: 'x',
        kind: 'configmaps',
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace dying is being terminated',
            field: 'metadata.namespace',
          },
        ],
      })
      return true
    })
  })

  it('names an object by its prefix where it has no name yet', async () => {
    const unnamed = {metadata: {generateName: 'x-'}}
    await assert.rejects(
      admit(namespaceLifecycle, {resource: 'configmaps', object: unnamed}, inside('dying')),
      {message: /^configmaps "x-" is forbidden/},
    )
  })
})

const create = async (spec: object) =>
  (await admit(priorityAdmission, {resource: 'pods', object: {metadata: {name: 'p'}, spec}})) as {
    spec?: object
  }

describe('Priority', () => {
  const priorities: [spec: object, priority: number][] = [
    [{}, 0],
    [{priority: 0, preemptionPolicy: 'PreemptLowerPriority'}, 0],
    [{priorityClassName: 'system-node-critical'}, 2_000_001_000],
    [{priorityClassName: 'system-cluster-critical'}, 2_000_000_000],
  ]
  for (const [spec, priority] of priorities) {
    it(`gives ${JSON.stringify(spec)} the priority ${priority}`, async () => {
      const preemptionPolicy = 'PreemptLowerPriority'
      assert.deepEqual((await create(spec)).spec, {...spec, priority, preemptionPolicy})
    })
  }

  const refusals: [spec: object, why: string][] = [
    [{priorityClassName: 'high'}, 'no PriorityClass with name high was found'],
    [
      {priority: 5},
      'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name',
    ],
    [
      {preemptionPolicy: 'Never'},
      'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ],
  ]
  for (const [spec, why] of refusals) {
    it(`refuses ${JSON.stringify(spec)}`, async () => {
      await assert.rejects(create(spec), {code: 403, message: `pods "p" is forbidden: ${why}`})
    })
  }

  it('leaves pods alone that are there', async () => {
    const object = {metadata: {}, spec: {priority: 5}}
    await admit(priorityAdmission, {resource: 'pods', verb: 'update', object})
    assert.deepEqual(object.spec, {priority: 5})
  })
})
