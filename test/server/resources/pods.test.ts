import assert from 'node:assert/strict'

import {StatusError} from '../../../src/server/kernel/status.ts'
import {pullPolicyFor} from '../../../src/server/resources/pod-defaults.ts'
import {NOW_TEXT, contextOf, createErrors, created, resource, texts, updated} from './support.ts'

const container = {name: 'c', image: 'nginx:1.25'}
const pod = (spec: object = {}) => ({spec: {containers: [{...container}], ...spec}})
const only = (change: object) => ({spec: {containers: [{...container, ...change}]}})

describe('defaults of a Pod', () => {
  it('are those of a real server', () => {
    const {spec, status} = created('pods', pod())
    assert.deepEqual(spec, {
      containers: [
        {
          name: 'c',
          image: 'nginx:1.25',
          imagePullPolicy: 'IfNotPresent',
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          resources: {},
        },
      ],
      restartPolicy: 'Always',
      dnsPolicy: 'ClusterFirst',
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      tolerations: ['not-ready', 'unreachable'].map((taint) => ({
        key: `node.kubernetes.io/${taint}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      })),
    })
    assert.deepEqual(status, {phase: 'Pending', qosClass: 'BestEffort'})
  })

  const images: [image: string, policy: string][] = [
    ['nginx', 'Always'],
    ['nginx:latest', 'Always'],
    ['nginx:1', 'IfNotPresent'],
    ['localhost:5000/nginx', 'Always'],
    ['localhost:5000/nginx:1', 'IfNotPresent'],
    ['nginx@sha256:0123', 'IfNotPresent'],
  ]
  for (const [image, policy] of images) {
    it(`pull ${image} ${policy}`, () => {
      assert.equal(pullPolicyFor(image), policy)
    })
  }

  it('reach into probes, ports, references and volumes', () => {
    const made = created('pods', {
      spec: {
        hostNetwork: true,
        containers: [
          {
            ...container,
            ports: [{containerPort: 80}],
            livenessProbe: {httpGet: {port: 80}},
            env: [{name: 'A', valueFrom: {fieldRef: {fieldPath: 'metadata.name'}}}],
          },
        ],
        volumes: [
          {name: 'a'},
          {name: 'b', secret: {secretName: 's'}},
          {name: 'c', projected: {sources: [{serviceAccountToken: {path: 't'}}]}},
          {name: 'd', hostPath: {path: '/x'}},
        ],
      },
    }).spec
    const [first] = made.containers
    assert.deepEqual(first.ports, [{containerPort: 80, hostPort: 80, protocol: 'TCP'}])
    assert.deepEqual(first.livenessProbe, {
      httpGet: {port: 80, path: '/', scheme: 'HTTP'},
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    })
    assert.equal(first.env[0].valueFrom.fieldRef.apiVersion, 'v1')
    assert.deepEqual(made.volumes, [
      {name: 'a', emptyDir: {}},
      {name: 'b', secret: {secretName: 's', defaultMode: 420}},
      {
        name: 'c',
        projected: {
          sources: [{serviceAccountToken: {path: 't', expirationSeconds: 3600}}],
          defaultMode: 420,
        },
      },
      {name: 'd', hostPath: {path: '/x', type: ''}},
    ])
  })

  it('take limits for requests, and write both in one way', () => {
    const {resources} = created('pods', only({resources: {limits: {cpu: '0.5', memory: '1024Mi'}}}))
      .spec.containers[0]
    assert.deepEqual(resources, {
      limits: {cpu: '500m', memory: '1Gi'},
      requests: {cpu: '500m', memory: '1Gi'},
    })
  })

  const classes: [resources: object, quality: string][] = [
    [{}, 'BestEffort'],
    [{requests: {cpu: '1'}}, 'Burstable'],
    [{limits: {cpu: '1'}}, 'Burstable'],
    [{limits: {cpu: '1', memory: '1Gi'}}, 'Guaranteed'],
    [{limits: {cpu: '1', memory: '1Gi'}, requests: {cpu: '500m'}}, 'Burstable'],
  ]
  for (const [resources, quality] of classes) {
    it(`call ${JSON.stringify(resources)} ${quality}`, () => {
      assert.equal(created('pods', only({resources})).status.qosClass, quality)
    })
  }

  it('leave a toleration alone that covers a broken node', () => {
    const {tolerations} = created('pods', pod({tolerations: [{operator: 'Exists'}]})).spec
    assert.deepEqual(tolerations, [{operator: 'Exists'}])
  })

  it('say that gates keep it from being scheduled', () => {
    const {conditions} = created('pods', pod({schedulingGates: [{name: 'a.io/x'}]})).status
    assert.equal(conditions[0].reason, 'SchedulingGated')
  })

  it('name the service account in both fields', () => {
    const {spec} = created('pods', pod({serviceAccount: 'robot'}))
    assert.equal(spec.serviceAccountName, 'robot')
  })
})

describe('rules of a Pod', () => {
  it('take a plain one', () => {
    assert.deepEqual(createErrors('pods', pod()), [])
  })

  const refusals: [body: object, errors: (string | RegExp)[]][] = [
    [{spec: {}}, ['spec.containers: Required value']],
    [
      {spec: {containers: [{}]}},
      ['spec.containers[0].name: Required value', 'spec.containers[0].image: Required value'],
    ],
    [
      {spec: {containers: [container, container]}},
      ['spec.containers[1].name: Duplicate value: "c"'],
    ],
    [
      only({name: 'A'}),
      [/^spec.containers\[0\].name: Invalid value: "A": a lowercase RFC 1123 label/],
    ],
    [
      only({imagePullPolicy: 'Odd'}),
      [
        'spec.containers[0].imagePullPolicy: Unsupported value: "Odd": supported values: "Always", "IfNotPresent", "Never"',
      ],
    ],
    [
      only({volumeMounts: [{name: 'v', mountPath: '/x'}]}),
      ['spec.containers[0].volumeMounts[0].name: Not found: "v"'],
    ],
    [
      only({ports: [{containerPort: 70_000}, {}]}),
      [
        'spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
        'spec.containers[0].ports[1].containerPort: Required value',
      ],
    ],
    [
      only({resources: {limits: {cpu: '1'}, requests: {cpu: '2'}}}),
      [
        'spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1',
      ],
    ],
    [only({env: [{name: ''}]}), ['spec.containers[0].env[0].name: Required value']],
    [
      pod({restartPolicy: 'Odd'}),
      [
        'spec.restartPolicy: Unsupported value: "Odd": supported values: "Always", "OnFailure", "Never"',
      ],
    ],
    [
      pod({volumes: [{name: 'a'}, {name: 'a', secret: {}, emptyDir: {}}]}),
      [
        'spec.volumes[1].secret: Forbidden: may not specify more than 1 volume type',
        'spec.volumes[1].name: Duplicate value: "a"',
      ],
    ],
    [
      pod({volumes: [{name: 'a', secret: {}}, {name: 'b', nfs: {server: 'x'}}, {hostPath: {}}]}),
      [
        'spec.volumes[0].secret.secretName: Required value',
        'spec.volumes[1].nfs.path: Required value',
        'spec.volumes[2].hostPath.path: Required value',
        'spec.volumes[2].name: Required value',
      ],
    ],
    [
      only({image: ' x', env: [{name: 'A', valueFrom: {}}]}),
      [
        'spec.containers[0].env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
        'spec.containers[0].image: Invalid value: " x": must not have leading or trailing whitespace',
      ],
    ],
    [
      only({
        env: [
          {name: 'A', value: 'x', valueFrom: {fieldRef: {fieldPath: 'metadata.name'}}},
          {name: 'B', valueFrom: {fieldRef: {}, resourceFieldRef: {}}},
        ],
      }),
      [
        'spec.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty',
        'spec.containers[0].env[1].valueFrom: Invalid value: "": may not have more than one field specified at a time',
      ],
    ],
    [
      pod({tolerations: [{operator: 'Exists', value: 'x'}]}),
      [
        'spec.tolerations[0].operator: Invalid value: {"Key":"","Operator":"Exists","Value":"x","Effect":"","TolerationSeconds":null}: value must be empty when `operator` is \'Exists\'',
      ],
    ],
    [
      pod({activeDeadlineSeconds: 0}),
      ['spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive'],
    ],
    [pod({nodeName: 'A'}), [/^spec.nodeName: Invalid value: "A"/]],
    [
      pod({tolerations: [{value: 'x'}]}),
      [/^spec.tolerations\[0\].operator: Invalid value: "": operator must be Exists when `key`/],
    ],
  ]
  for (const [body, errors] of refusals) {
    it(`refuse ${JSON.stringify(body)}`, () => {
      const found = texts(createErrors('pods', {...body}))
      assert.equal(found.length, errors.length, found.join('\n'))
      errors.forEach((wanted, index) => {
        if (wanted instanceof RegExp) assert.match(found[index] ?? '', wanted)
        else assert.equal(found[index], wanted)
      })
    })
  }
})

describe('updates of a Pod', () => {
  const old = created('pods', pod({activeDeadlineSeconds: 100}))
  const change = (spec: object) =>
    texts(updated('pods', old, {spec: {...old.spec, ...spec}}).errors)

  it('may change images, shorten its life and add tolerations', () => {
    const toleration = {key: 'a', operator: 'Exists'}
    assert.deepEqual(
      change({
        containers: [{...old.spec.containers[0], image: 'nginx:2'}],
        activeDeadlineSeconds: 50,
        tolerations: [...old.spec.tolerations, toleration],
      }),
      [],
    )
  })

  it('may change nothing else', () => {
    assert.match(
      change({nodeName: 'n1'}).join(),
      /^spec: Forbidden: pod updates may not change fields other than `spec.containers\[\*\].image`,`spec.initContainers\[\*\].image`,/,
    )
  })

  it('may not add a container, lengthen its life or drop a toleration', () => {
    assert.deepEqual(change({containers: [...old.spec.containers, {name: 'd', image: 'x'}]}), [
      'spec.containers: Forbidden: pod updates may not add or remove containers',
    ])
    assert.deepEqual(change({activeDeadlineSeconds: 101}), [
      'spec.activeDeadlineSeconds: Invalid value: 101: must be less than or equal to previous value',
    ])
    assert.deepEqual(change({tolerations: []}), [
      'spec.tolerations: Forbidden: existing toleration can not be modified except its tolerationSeconds',
    ])
  })

  it('keep the status at the main endpoint, and all but it at /status', () => {
    const status = {phase: 'Running'}
    assert.deepEqual(updated('pods', old, {...old, status}).object.status, old.status)
    const context = contextOf({subresource: 'status'})
    const {object, errors} = updated('pods', old, {spec: {}, status}, context)
    assert.deepEqual(object.spec, old.spec)
    assert.deepEqual(object.status, {phase: 'Running', qosClass: 'BestEffort'})
    assert.deepEqual(errors, [])
  })
})

describe('binding a Pod', () => {
  const binding = resource('pods').subresources?.binding
  const context = contextOf({name: 'x', subresource: 'binding'})
  const bind = (target: object, bound: any) =>
    binding?.create?.({metadata: {name: 'x'}, target}, bound, context)

  it('puts it on the node', () => {
    const made = created('pods', pod())
    assert.deepEqual(bind({kind: 'Node', name: 'n1'}, made), {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      code: 201,
    })
    assert.equal(made.spec.nodeName, 'n1')
    assert.deepEqual(made.status.conditions, [
      {type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: NOW_TEXT},
    ])
    assert.equal(binding?.stores, true)
  })

  const refusals: [target: object, spec: object, message: string][] = [
    [
      {name: 'n2'},
      {nodeName: 'n1'},
      'Operation cannot be fulfilled on pods/binding "x": pod x is already assigned to node "n1"',
    ],
    [{}, {}, 'target.name: Required value'],
    [
      {kind: 'Pod', name: 'n1'},
      {},
      'target.kind: Unsupported value: "Pod": supported values: "Node", "<empty>"',
    ],
  ]
  for (const [target, spec, message] of refusals) {
    it(`refuses ${JSON.stringify(target)} for ${JSON.stringify(spec)}`, () => {
      assert.throws(
        () => bind(target, created('pods', pod(spec))),
        (error) => error instanceof StatusError && error.message === message,
      )
    })
  }
})

describe('deleting a Pod', () => {
  const grace = resource('pods').gracePeriodSeconds
  const rows: [spec: object, phase: string, seconds: number][] = [
    [{terminationGracePeriodSeconds: 5}, 'Pending', 0],
    [{terminationGracePeriodSeconds: 5, nodeName: 'n1'}, 'Running', 5],
    [{nodeName: 'n1'}, 'Running', 30],
    [{nodeName: 'n1'}, 'Succeeded', 0],
  ]
  for (const [spec, phase, seconds] of rows) {
    it(`waits ${seconds} seconds for ${JSON.stringify(spec)} in ${phase}`, () => {
      assert.equal(grace?.({metadata: {}, spec, status: {phase}}), seconds)
    })
  }
})
