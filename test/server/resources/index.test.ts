import assert from 'node:assert/strict'

import {findType} from '../../../src/api/schema/index.ts'
import {RESOURCES, createResources} from '../../../src/server/resources/index.ts'
import type {ServerServices} from '../../../src/server/kernel/services.ts'
import {resource} from './support.ts'

const READ_WRITE = 'create delete deletecollection get list patch update watch'

/** Verbs and subresources of every kind. */
const rows: Record<string, [verbs: string, subresources: string, shortNames: string]> = {
  configmaps: [READ_WRITE, '', 'cm'],
  events: [READ_WRITE, '', 'ev'],
  namespaces: [
    READ_WRITE.replace(' deletecollection', ''),
    'finalize:update status:get,patch,update',
    'ns',
  ],
  nodes: [READ_WRITE, 'status:get,patch,update', 'no'],
  persistentvolumeclaims: [READ_WRITE, 'status:get,patch,update', 'pvc'],
  persistentvolumes: [READ_WRITE, 'status:get,patch,update', 'pv'],
  pods: [READ_WRITE, 'binding:create status:get,patch,update', 'po'],
  secrets: [READ_WRITE, '', ''],
  serviceaccounts: [READ_WRITE, 'token:create', 'sa'],
  services: [READ_WRITE, 'status:get,patch,update', 'svc'],
  selfsubjectreviews: ['create', '', ''],
  tokenreviews: ['create', '', ''],
  localsubjectaccessreviews: ['create', '', ''],
  selfsubjectaccessreviews: ['create', '', ''],
  selfsubjectrulesreviews: ['create', '', ''],
  subjectaccessreviews: ['create', '', ''],
  certificatesigningrequests: [
    READ_WRITE,
    'approval:get,patch,update status:get,patch,update',
    'csr',
  ],
  leases: [READ_WRITE, '', ''],
  machines: [READ_WRITE, 'status:get,patch,update', ''],
  runtimeclasses: [READ_WRITE, '', ''],
  clusterrolebindings: [READ_WRITE, '', ''],
  clusterroles: [READ_WRITE, '', ''],
  rolebindings: [READ_WRITE, '', ''],
  roles: [READ_WRITE, '', ''],
  csidrivers: [READ_WRITE, '', ''],
  csinodes: [READ_WRITE, '', ''],
}

describe('the table of resources', () => {
  it('has a row for every served kind, and no other', () => {
    assert.deepEqual(RESOURCES.map(({plural}) => plural).sort(), Object.keys(rows).sort())
  })

  for (const [plural, [verbs, subresources, shortNames]] of Object.entries(rows)) {
    it(`gives ${plural} its verbs, subresources and short names`, () => {
      const row = resource(plural)
      const parts = Object.entries(row.subresources ?? {}).map(
        ([name, {verbs: some}]) => `${name}:${some.join()}`,
      )
      assert.equal(row.verbs.join(' '), verbs)
      assert.equal(parts.sort().join(' '), subresources)
      assert.equal((row.shortNames ?? []).join(), shortNames)
    })
  }

  it('names a type of the schema table in every row, version and subresource', () => {
    for (const {type, extraVersions = [], subresources = {}} of RESOURCES) {
      const kinds = Object.values(subresources).flatMap(({kind}) => (kind ? [kind.type] : []))
      for (const name of [type, ...extraVersions.map((one) => one.type), ...kinds]) {
        assert.equal(findType(name).name, name)
      }
    }
  })

  it('has the name first in every table but that of events', () => {
    for (const {plural, columns} of RESOURCES) {
      if (columns === undefined || plural === 'events') continue
      assert.deepEqual([columns[0]?.name, columns[0]?.format], ['Name', 'name'], plural)
    }
  })

  it('has no table for what is only created', () => {
    for (const {verbs, columns} of RESOURCES)
      assert.equal(columns === undefined, verbs.length === 1)
  })

  it('answers every review once services are there', () => {
    const services: ServerServices = {
      audiences: [],
      rulesFor: () => ({resourceRules: [], nonResourceRules: [], incomplete: false}),
      reviewToken: () => Promise.resolve({authenticated: false, error: ''}),
      issueToken: () => Promise.resolve({token: '', expires: new Date(0)}),
    }
    for (const row of createResources(services)) {
      assert.equal(row.review !== undefined, row.verbs.length === 1, row.plural)
      for (const part of Object.values(row.subresources ?? {})) {
        assert.equal(part.create !== undefined, part.verbs.includes('create'))
      }
    }
  })

  it('has a description of its own for every column', () => {
    for (const {columns = []} of RESOURCES) {
      for (const {description} of columns) assert.match(description, /^[A-Z].*\.$/)
    }
  })
})
