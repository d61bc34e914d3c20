import assert from 'node:assert/strict'
import {startTestServer, type TestServer} from '../../helpers/test-server.ts'
import {assertLinear} from '../../helpers/growth.ts'
import type {Resource} from '../../../src/server/kernel/resource.ts'
import {RESOURCES} from '../../../src/server/resources/index.ts'
import {Api, type CallOptions} from '../support.ts'
import {BASE_OBJECTS} from './base-objects.ts'
import {hostileValues} from './hostile-values.ts'
import {fieldsOf, withValue, type FieldPlace} from './schema-fields.ts'

const MOST_STATUS = 64 * 1024
/** Texts up to the limit of a body, lists and maps up to theirs. */
const CHARACTERS = [45_000, 2_900_000]
/** For the other runs of the same field. */
const FEWER_CHARACTERS = [45_000, 360_000]
const ITEMS = [600, 2500, 10_000]
/** Of plain values many more have room in a body. */
const PLAIN_ITEMS = [...ITEMS, 40_000]
/** Of an object that is created, changed, patched, applied and deleted. */
const CHANGED_ITEMS = [300, 3000]

const pathOf = ({group, version, plural, namespaced}: Resource) =>
  `${group === '' ? '/api' : `/apis/${group}`}/${version}${namespaced ? '/namespaces/default' : ''}/${plural}`

const named = (resource: Resource, name: string): object => {
  const base = BASE_OBJECTS[resource.plural] as {metadata?: object} | undefined
  return {...base, metadata: {...base?.metadata, name}}
}

describe('one request, whatever field it fills up to the limits', () => {
  let server: TestServer
  let api: Api

  before(async () => {
    server = await startTestServer({controllers: false})
    api = new Api(server.handler)
    await api.post('/api/v1/namespaces/default/serviceaccounts', {metadata: {name: 'default'}})
  })
  after(() => server.stop())

  async function call(method: string, url: string, options: CallOptions): Promise<number> {
    const {status, text} = await api.call(method, url, options)
    assert.ok(status < 400 || text.length < MOST_STATUS, `a Status of ${text.length} characters`)
    assert.deepEqual(server.errors, [])
    return status
  }

  const bodyOf = (object: object) => Buffer.from(JSON.stringify(object))

  /** Decoded, defaulted, admitted and validated as a create. */
  function creating({resource, path}: FieldPlace, make: (size: number) => unknown) {
    return (size: number) => {
      const body = bodyOf(withValue(named(resource, 'big'), path, make(size)))
      return () => call('POST', `${pathOf(resource)}?dryRun=All`, {body})
    }
  }

  /** Stored, if it may be; then changed and patched, with the old value to compare with, and deleted. */
  function changing({resource, path}: FieldPlace, make: (size: number) => unknown) {
    const url = `${pathOf(resource)}/big`
    const place = path[0] === 'status' && resource.subresources?.status ? `${url}/status` : url
    return (size: number) => {
      const value = make(size)
      const whole = bodyOf(withValue(named(resource, 'big'), path, value))
      const changed = bodyOf(
        withValue(named(resource, 'big'), path, Array.isArray(value) ? value.toReversed() : value),
      )
      const patch = bodyOf(withValue({}, path, value))
      const kind = resource.custom === true ? 'merge' : 'strategic-merge'
      return async () => {
        await call('POST', pathOf(resource), {
          body: place === url ? whole : bodyOf(named(resource, 'big')),
        })
        await call('PUT', place, {body: whole})
        await call('PUT', place, {body: changed})
        await call('PATCH', place, {body: patch, type: `application/${kind}-patch+json`})
        await call('PATCH', `${place}?fieldManager=m&force=true`, {
          body: whole,
          type: 'application/apply-patch+yaml',
        })
        await call('DELETE', `${url}?gracePeriodSeconds=0`, {})
      }
    }
  }

  async function assertLinearAt(place: FieldPlace): Promise<void> {
    for (const [index, {what, unit, make}] of hostileValues(place.field).entries()) {
      const name = `${place.name} with ${what}`
      const items = place.field.scalar && index === 0 ? PLAIN_ITEMS : ITEMS
      const texts = index === 0 ? CHARACTERS : FEWER_CHARACTERS
      await assertLinear(name, unit === 'items' ? items : texts, creating(place, make))
      if (unit === 'items' && index === 0 && (await isStored(place, make))) {
        await assertLinear(`changing ${name}`, CHANGED_ITEMS, changing(place, make))
      }
    }
  }

  /** What a create drops or refuses is not compared with what is stored, unless it is a status. */
  async function isStored(place: FieldPlace, make: (size: number) => unknown): Promise<boolean> {
    const {review, verbs, subresources} = place.resource
    if (review !== undefined || !verbs.includes('update')) return false
    if (place.path[0] === 'status') return subresources?.status !== undefined
    return (await creating(place, make)(CHANGED_ITEMS[0] ?? 0)()) === 201
  }

  const seen = new Set<string>()
  for (const resource of RESOURCES) {
    const places = [...fieldsOf(resource, seen)]
    it(`takes time in proportion to its size: ${places.length} fields of ${resource.plural}`, async () => {
      for (const place of places) await assertLinearAt(place)
    }).timeout(300_000)
  }
})
