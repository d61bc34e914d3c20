import assert from 'node:assert/strict'
import fc from 'fast-check'
import {allTypes, findType} from '../../../src/api/schema/index.ts'
import {conform} from '../../../src/server/codec/conform.ts'
import {arbitraryObject} from './arbitrary-object.ts'

const conformTo = (type: string, value: unknown) => conform(findType(type), value)

describe('conforming to a type', () => {
  it('gives an empty Node what a real server gives it', () => {
    assert.deepEqual(conformTo('core/v1.Node', {metadata: {name: 'n'}}).object, {
      metadata: {name: 'n'},
      spec: {},
      status: {
        daemonEndpoints: {kubeletEndpoint: {Port: 0}},
        nodeInfo: {
          machineID: '',
          systemUUID: '',
          bootID: '',
          kernelVersion: '',
          osImage: '',
          containerRuntimeVersion: '',
          kubeletVersion: '',
          kubeProxyVersion: '',
          operatingSystem: '',
          architecture: '',
        },
      },
    })
  })

  const empty: [type: string, object: unknown][] = [
    ['core/v1.ConfigMap', {metadata: {}}],
    ['core/v1.Namespace', {metadata: {}, spec: {}, status: {}}],
    ['core/v1.Service', {metadata: {}, spec: {}, status: {loadBalancer: {}}}],
    ['coordination/v1.Lease', {metadata: {}, spec: {}}],
    ['rbac/v1.ClusterRole', {metadata: {}, rules: null}],
    [
      'certificates/v1.CertificateSigningRequest',
      {metadata: {}, spec: {request: null, signerName: ''}, status: {}},
    ],
  ]
  for (const [type, object] of empty) {
    it(`writes of an empty ${type} what Go writes of it`, () => {
      assert.deepEqual(conformTo(type, {}).object, object)
    })
  }

  const bytesFields = allTypes().flatMap(({name, fields}) =>
    fields.filter(({type}) => type === 'bytes').map((field) => ({type: name, field})),
  )
  it('knows fields of bytes to try', () => assert.ok(bytesFields.length >= 6))
  for (const {type, field} of bytesFields) {
    it(`refuses URL-safe and unpadded base64 in ${field.name} of ${type}, as Go does`, () => {
      const holding = (text: string) => ({
        [field.name]: field.cardinality === 'map' ? {key: text} : text,
      })
      for (const [text, at] of [
        ['Pz8-Pz8_', 3],
        ['YWJjZA', 4],
      ] as const) {
        assert.throws(() => conformTo(type, holding(text)), {
          message: `illegal base64 data at input byte ${at}`,
        })
      }
      assert.doesNotThrow(() => conformTo(type, holding('Pz8+Pz8/')))
    })
  }

  it('writes times that were never set as null if Go cannot leave them out', () => {
    const status = {conditions: [{type: 'Ready', status: 'True'}]}
    const {object} = conformTo('core/v1.Node', {status})
    assert.deepEqual((object.status as typeof status).conditions, [
      {type: 'Ready', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null},
    ])
  })

  it('drops nulls and zero values, and keeps pointers to zero', () => {
    const {object} = conformTo('core/v1.Pod', {
      metadata: {name: 'p', namespace: '', labels: {}, annotations: null, finalizers: []},
      spec: {
        containers: [{name: 'c', image: '', tty: false, command: [], securityContext: {}}],
        hostNetwork: false,
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 0,
      },
    })
    assert.deepEqual(object, {
      metadata: {name: 'p'},
      spec: {
        containers: [{name: 'c', resources: {}, securityContext: {}}],
        enableServiceLinks: false,
        terminationGracePeriodSeconds: 0,
      },
      status: {},
    })
  })

  it('writes fields in Go’s order, whatever order they came in', () => {
    const {object} = conformTo('core/v1.Secret', {
      type: 'Opaque',
      data: {},
      metadata: {},
      immutable: true,
      apiVersion: 'v1',
      kind: 'Secret',
      stringData: {a: 'b'},
    })
    assert.deepEqual(Object.keys(object), [
      'kind',
      'apiVersion',
      'metadata',
      'immutable',
      'stringData',
      'type',
    ])
  })

  it('takes a null in a map or list for the zero value', () => {
    const {object} = conformTo('core/v1.ConfigMap', {data: {a: null}, binaryData: {b: null}})
    assert.deepEqual(object, {metadata: {}, data: {a: ''}, binaryData: {b: ''}})
  })

  it('writes quantities in their canonical form', () => {
    const limits = {cpu: '0.5', memory: '1024Mi', pods: 10}
    const container = {name: 'c', resources: {limits}}
    const {object} = conformTo('core/v1.PodSpec', {containers: [container]})
    assert.deepEqual((object.containers as (typeof container)[])[0]?.resources.limits, {
      cpu: '500m',
      memory: '1Gi',
      pods: '10',
    })
  })

  it('takes ports by number and by name', () => {
    const ports = [{port: 1, targetPort: 8080}, {port: 2, targetPort: 'web'}, {port: 3}]
    const {object} = conformTo('core/v1.ServiceSpec', {ports})
    assert.deepEqual(object.ports, [...ports.slice(0, 2), {port: 3, targetPort: 0}])
  })

  it('tells where unknown fields were, in the order of the body, and drops them', () => {
    const {object, unknown} = conformTo('core/v1.Pod', {
      metadata: {foo: 1, name: 'p'},
      bar: {deep: true},
      spec: {containers: [{name: 'a'}, {name: 'b', nmae: 'x'}], nodeSelector: {any: 'key'}},
      Kind: 'Pod',
    })
    assert.deepEqual(unknown, ['metadata.foo', 'bar', 'spec.containers[1].nmae', 'Kind'])
    assert.deepEqual(object.metadata, {name: 'p'})
    assert.equal('bar' in object, false)
  })

  it('treats __proto__ as any other key', () => {
    const value: unknown = JSON.parse('{"data":{"__proto__":"x"},"__proto__":{"data":{}}}')
    const {object, unknown} = conformTo('core/v1.ConfigMap', value)
    assert.deepEqual(Object.entries(object.data as object), [['__proto__', 'x']])
    assert.equal(Object.getPrototypeOf(object.data), Object.prototype)
    assert.deepEqual(unknown, ['__proto__'])
  })

  const refusals: [type: string, value: unknown, says: string][] = [
    [
      'core/v1.ConfigMap',
      {data: {x: 1}},
      'json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    ],
    [
      'core/v1.ConfigMap',
      {data: []},
      'json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string',
    ],
    [
      'core/v1.ConfigMap',
      {metadata: {labels: {a: true}}},
      'json: cannot unmarshal bool into Go struct field ObjectMeta.metadata.labels of type string',
    ],
    [
      'core/v1.Pod',
      {spec: {containers: [{env: [{name: 'a', value: 1}]}]}},
      'json: cannot unmarshal number into Go struct field EnvVar.spec.containers.env.value of type string',
    ],
    [
      'core/v1.Pod',
      {spec: 'x'},
      'json: cannot unmarshal string into Go struct field Pod.spec of type v1.PodSpec',
    ],
    [
      'core/v1.Pod',
      {spec: {containers: {}}},
      'json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container',
    ],
    [
      'core/v1.Pod',
      {spec: {restartPolicy: 1}},
      'json: cannot unmarshal number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy',
    ],
    [
      'core/v1.ServiceSpec',
      {ports: [{port: 1.5}]},
      'json: cannot unmarshal number 1.5 into Go struct field ServicePort.ports.port of type int32',
    ],
    [
      'core/v1.ServiceSpec',
      {ports: [{port: 3_000_000_000}]},
      'json: cannot unmarshal number 3000000000 into Go struct field ServicePort.ports.port of type int32',
    ],
    ['core/v1.Secret', {data: {a: 'not base64!'}}, 'illegal base64 data at input byte 3'],
    [
      'core/v1.Secret',
      {data: {a: 1}},
      'json: cannot unmarshal number into Go struct field Secret.data of type []uint8',
    ],
    [
      'core/v1.ConfigMap',
      {metadata: {creationTimestamp: 5}},
      'json: cannot unmarshal number into Go value of type string',
    ],
    [
      'core/v1.PodSpec',
      {overhead: {cpu: 'many'}},
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
    ['core/v1.ConfigMap', [], 'json: cannot unmarshal array into Go value of type v1.ConfigMap'],
  ]
  for (const [type, value, says] of refusals) {
    it(`refuses ${JSON.stringify(value)} as a ${type} in Go’s words`, () => {
      assert.throws(() => conformTo(type, value), {name: 'MalformedError', message: says})
    })
  }

  it('changes nothing that it has made', () => {
    for (const type of allTypes().filter(({object}) => object)) {
      fc.assert(
        fc.property(arbitraryObject(type), (value) => {
          const {object, unknown} = conform(type, value)
          assert.deepEqual(unknown, [])
          assert.equal(JSON.stringify(conform(type, object).object), JSON.stringify(object))
        }),
        {numRuns: 10},
      )
    }
  })

  it('does not change what it was given', () => {
    const type = findType('core/v1.Pod')
    fc.assert(
      fc.property(arbitraryObject(type), (value) => {
        const before = JSON.stringify(value)
        conform(type, value)
        assert.equal(JSON.stringify(value), before)
      }),
      {numRuns: 50},
    )
  })
})

describe('conforming to a custom resource', () => {
  const machine = findType('machine/v1beta1.Machine')
  const custom = (value: unknown) => conform(machine, value, {custom: true})

  it('keeps what the provider says, and zero values that were sent', () => {
    const value = {
      metadata: {name: 'm'},
      spec: {providerID: '', providerSpec: {value: {any: ['thing', null, 0, false]}}, taints: []},
    }
    assert.deepEqual(custom(value), {object: value, unknown: []})
  })

  it('adds nothing but metadata', () => {
    assert.deepEqual(custom({}).object, {metadata: {}})
  })

  it('still drops zero values from metadata, which is typed', () => {
    assert.deepEqual(custom({metadata: {name: 'm', labels: {}}}).object, {metadata: {name: 'm'}})
  })

  it('prunes fields that it does not know', () => {
    const {object, unknown} = custom({spec: {foo: 1}, status: {addresses: [{type: 'x', foo: 1}]}})
    assert.deepEqual(object, {metadata: {}, spec: {}, status: {addresses: [{type: 'x'}]}})
    assert.deepEqual(unknown, ['spec.foo', 'status.addresses[0].foo'])
  })

  it('refuses free-form values that nest too deeply to be handled', () => {
    const deep: unknown = JSON.parse('['.repeat(300) + ']'.repeat(300))
    assert.throws(() => custom({spec: {providerSpec: {value: deep}}}), {
      message: 'exceeded max depth',
    })
  })
})

describe('conforming to a type, with more values than an object may have', () => {
  const many = (count: number) => Array.from({length: count}, (_, index) => `v${index}`)
  const entries = (count: number) => Object.fromEntries(many(count).map((key) => [key, '']))

  it('takes lists and maps up to their limit', () => {
    const {object} = conformTo('core/v1.ConfigMap', {data: entries(10_000)})
    assert.equal(Object.keys(object.data as object).length, 10_000)
  })

  const refused: [name: string, type: string, value: object, message: string][] = [
    [
      'a list',
      'certificates/v1.CertificateSigningRequest',
      {spec: {usages: many(10_001)}},
      'spec.usages: Too many: 10001: must have at most 10000 items',
    ],
    [
      'a map',
      'core/v1.ConfigMap',
      {metadata: {labels: entries(150_000)}},
      'metadata.labels: Too many: 150000: must have at most 10000 items',
    ],
    [
      'the values of an extra attribute',
      'certificates/v1.CertificateSigningRequest',
      {spec: {extra: {a: many(10_001)}}},
      'spec.extra: Too many: 10001: must have at most 10000 items',
    ],
    [
      'many lists together',
      'rbac/v1.Role',
      {rules: Array.from({length: 11}, () => ({verbs: many(10_000)}))},
      'rules[2].verbs: Too many: an object must have at most 25000 values',
    ],
    [
      'a free-form value',
      'core/v1.ConfigMap',
      {metadata: {managedFields: [{fieldsV1: entries(100_001)}]}},
      'metadata.managedFields[0].fieldsV1: Too many: an object must have at most 25000 values',
    ],
  ]
  for (const [name, type, value, message] of refused) {
    it(`refuses ${name}`, () => {
      assert.throws(() => conformTo(type, value), {message})
    })
  }
})
