import assert from 'node:assert/strict'

import type {ApiObject} from '../../../src/api/meta.ts'
import {nameOf, parseFieldSelector} from '../../../src/server/selectors/field-selector.ts'

const pods = {
  namespaced: true,
  fields: {
    'spec.nodeName': (object: ApiObject) =>
      (object.spec as {nodeName?: string} | undefined)?.nodeName ?? '',
  },
  fieldAliases: {'spec.host': 'spec.nodeName'},
}
const configMaps = {namespaced: true}
const clusterRoles = {namespaced: false}
const nodes = {namespaced: false, fields: {'spec.unschedulable': () => 'false'}}
const machines = {namespaced: true, custom: true}

const pod: ApiObject = {metadata: {name: 'p', namespace: 'default'}, spec: {nodeName: 'n1'}}

const selects = (text: string) => parseFieldSelector(text, pods).matches(pod)

describe('field selectors', () => {
  for (const text of [
    '',
    ',',
    'metadata.name=p',
    'metadata.name==p',
    'metadata.name!=q',
    'spec.nodeName=n1,metadata.namespace=default',
    'spec.host=n1',
    'spec.nodeName!=',
  ]) {
    it(`selects by "${text}"`, () => assert.equal(selects(text), true))
  }

  for (const text of ['metadata.name=', 'metadata.name!=p', 'spec.nodeName=n1,metadata.name=q']) {
    it(`passes over by "${text}"`, () => assert.equal(selects(text), false))
  }

  it('names the two fields that every kind has', () => {
    assert.throws(() => parseFieldSelector('data.a=1', configMaps), {
      code: 400,
      message: '"data.a" is not a known field selector: only "metadata.name", "metadata.namespace"',
    })
  })

  it('names the wrong field for a kind that has fields of its own, and for a custom one', () => {
    for (const resource of [pods, machines]) {
      assert.throws(() => parseFieldSelector('spec.username=x', resource), {
        code: 400,
        message: 'field label not supported: spec.username',
      })
    }
  })

  it('does not know a namespace where a cluster-scoped kind has fields of its own', () => {
    assert.throws(() => parseFieldSelector('metadata.namespace=x', nodes), {
      message: 'field label not supported: metadata.namespace',
    })
    assert.equal(parseFieldSelector('metadata.namespace=', clusterRoles).matches(pod), false)
  })

  it('refuses what is no term', () => {
    for (const text of ['a', 'a=b=c', 'metadata.name=p,b']) {
      assert.throws(() => parseFieldSelector(text, pods), {
        code: 400,
        message: `invalid selector: '${text}'; can't understand '${text.split(',').at(-1) ?? ''}'`,
      })
    }
  })

  it('has an end: each requirement is tested on every object of a list', () => {
    const many = (count: number) => Array.from({length: count}, () => 'metadata.name!=x').join(',')
    assert.equal(selects(many(100)), true)
    assert.throws(() => selects(many(101)), {
      message: 'invalid selector: more than 100 requirements',
    })
  })

  it('does not take inherited properties for fields', () => {
    assert.throws(() => parseFieldSelector('constructor=x', pods), {code: 400})
  })
})

describe('the name a field selector asks for', () => {
  it('is the one that metadata.name must equal', () => {
    assert.equal(nameOf('spec.nodeName=n1,metadata.name=p'), 'p')
    assert.equal(nameOf('metadata.name==p'), 'p')
  })

  it('is none for other terms and for names that no path carries', () => {
    for (const text of [
      '',
      'metadata.name!=p',
      'metadata.name=',
      'metadata.name=..',
      'metadata.name=a/b',
      'metadata.name=a=b',
      'metadata.name=a!=b',
    ]) {
      assert.equal(nameOf(text), undefined, text)
    }
  })
})
