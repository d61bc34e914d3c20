import assert from 'node:assert/strict'
import type {StatusError} from '../../../src/server/kernel/status.ts'
import {namespaceLifecycle} from '../../../src/server/admission/namespace-lifecycle.ts'
import {admit} from './support.ts'
import type {Situation, Wish} from './support.ts'

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
  ...['default', 'kube-system', 'kube-public'].map(
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
