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

  it('take limits for requests', () => {
    const {resources} = created('pods', only({resources: {limits: {cpu: '500m', memory: '1Gi'}}}))
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
    [{spec: {containers: [{image: 'x'}]}}, ['spec.containers[0].name: Required value']],
    [
      {spec: {containers: [container, container]}},
      ['spec.containers[1].name: Duplicate value: "c"'],
    ],
    [
      pod({initContainers: [container], ephemeralContainers: [{name: '../b'}]}),
      [
        'spec.initContainers[0].name: Duplicate value: "c"',
        /^spec.ephemeralContainers\[0\].name: Invalid value: "..\/b": a lowercase RFC 1123 label/,
      ],
    ],
    [
      only({imagePullPolicy: 'Odd'}),
      [
        'spec.containers[0].imagePullPolicy: Unsupported value: "Odd": supported values: "Always", "IfNotPresent", "Never"',
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
      pod({volumes: [{name: 'a'}, {name: 'a'}, {name: 'B'}, {name: 'b', nfs: {server: 'x'}}]}),
      [
        'spec.volumes[3].nfs.path: Required value',
        'spec.volumes[1].name: Duplicate value: "a"',
        /^spec.volumes\[2\].name: Invalid value: "B": a lowercase RFC 1123 label/,
      ],
    ],
    [
      pod({tolerations: [{operator: 'Odd', effect: 'Odd'}]}),
      [
        'spec.tolerations[0].operator: Unsupported value: "Odd": supported values: "Equal", "Exists"',
        'spec.tolerations[0].effect: Unsupported value: "Odd": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
      ],
    ],
    [pod({serviceAccountName: '../x'}), [/^spec.serviceAccountName: Invalid value: "..\/x"/]],
    [
      pod({hostname: 'a\nb'}),
      [/^spec.hostname: Invalid value: "a\\nb": a lowercase RFC 1123 label/],
    ],
    [pod({runtimeClassName: 'A'}), [/^spec.runtimeClassName: Invalid value: "A"/]],
    [pod({nodeName: 'A'}), [/^spec.nodeName: Invalid value: "A"/]],
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

  it('may change images, its life and its tolerations', () => {
    const toleration = {key: 'a', operator: 'Exists'}
    assert.deepEqual(
      change({
        containers: [{...old.spec.containers[0], image: 'nginx:2'}],
        activeDeadlineSeconds: 200,
        tolerations: [...old.spec.tolerations, toleration],
      }),
      [],
    )
  })

  const fixed: object[] = [
    {nodeName: 'n1'},
    {serviceAccountName: 'robot'},
    {hostNetwork: true},
    {volumes: [{name: 's', secret: {secretName: 'other'}}]},
    {ephemeralContainers: [{name: 'd', image: 'x'}]},
    {containers: [{...old.spec.containers[0], command: ['x']}]},
  ]
  for (const spec of fixed) {
    it(`may not set ${JSON.stringify(spec)}`, () => {
      assert.match(
        change(spec).join(),
        /^spec: Forbidden: pod updates may not change fields other than `spec.containers\[\*\].image`,`spec.initContainers\[\*\].image`,/,
      )
    })
  }

  it('may not add a container', () => {
    assert.deepEqual(change({containers: [...old.spec.containers, {name: 'd', image: 'x'}]}), [
      'spec.containers: Forbidden: pod updates may not add or remove containers',
    ])
  })

  it('bring back the tolerations that every pod has', () => {
    const {object, errors} = updated('pods', old, {spec: {...old.spec, tolerations: []}})
    assert.deepEqual([object.spec.tolerations, errors], [old.spec.tolerations, []])
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
