import assert from 'node:assert/strict'
import {parseConfigFile} from '../../../src/control-plane/config/config-file.ts'

const INIT = `apiVersion: kubeadm.k8s.io/v1beta4
kind: InitConfiguration
localAPIEndpoint: {advertiseAddress: 192.0.2.7, bindPort: 7443}
nodeRegistration: {name: one}
skipPhases: [rbac]
`
const CLUSTER = `apiVersion: kubeadm.k8s.io/v1beta4
kind: ClusterConfiguration
apiServer: {certSANs: [api.example.com]}
controlPlaneEndpoint: api.example.com:6443
kubernetesVersion: v1.36.0
networking: {serviceSubnet: 10.1.0.0/16, dnsDomain: example.local}
encryptionAlgorithm: RSA-3072
certificateValidityPeriod: 48h
`

const read = (text: string) => parseConfigFile(text, 'kubeadm.yaml')

describe('parseConfigFile', () => {
  it("reads kubeadm's two documents", () => {
    assert.deepEqual(read(`${INIT}---\n${CLUSTER}`), {
      choices: {
        advertiseAddress: '192.0.2.7',
        bindPort: 7443,
        nodeName: 'one',
        certSANs: ['api.example.com'],
        controlPlaneEndpoint: 'api.example.com:6443',
        serviceSubnet: '10.1.0.0/16',
        dnsDomain: 'example.local',
        keyAlgorithm: 'RSA-3072',
        certificateValidityPeriod: 48 * 3_600_000,
      },
      skipPhases: ['rbac'],
      warnings: [],
    })
  })

  it('reads a document of ours', () => {
    const {choices, dir} = read(
      'apiVersion: trustadm.io/v1alpha1\nkind: TrustadmConfiguration\ndir: /srv/plane\nbindAddress: 127.0.0.1\n',
    )
    assert.equal(dir, '/srv/plane')
    assert.deepEqual(choices, {bindAddress: '127.0.0.1'})
  })

  it('names what has no effect', () => {
    const {warnings} = read(
      `${INIT}bootstrapTokens: []\n---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n`,
    )
    assert.deepEqual(warnings, [
      'InitConfiguration.bootstrapTokens has no effect here',
      'KubeletConfiguration of kubelet.config.k8s.io/v1beta1 has no effect here',
    ])
  })

  it('reads an empty file as one that says nothing', () => {
    assert.deepEqual(read('').choices, {})
  })

  const refusals: {name: string; text: string; message: RegExp}[] = [
    {
      name: 'a field that nobody knows',
      text: `${CLUSTER}clusterNam: x\n`,
      message: /ClusterConfiguration\.clusterNam$/,
    },
    {
      name: 'an unknown field inside of another',
      text: INIT.replace('bindPort', 'port'),
      message: /InitConfiguration\.localAPIEndpoint\.port/,
    },
    {
      name: 'a port that is none',
      text: INIT.replace('7443', '70000'),
      message: /localAPIEndpoint\.bindPort has to be a port/,
    },
    {
      name: 'an address that is none',
      text: INIT.replace('192.0.2.7', 'here'),
      message: /advertiseAddress has to be an IP address/,
    },
    {
      name: 'an older version of kubeadm',
      text: INIT.replace('v1beta4', 'v1beta3'),
      message: /kubeadm\.k8s\.io\/v1beta3/,
    },
    {name: 'a document without a kind', text: 'a: 1\n', message: /without apiVersion and kind/},
    {name: 'broken YAML', text: 'a: [\n', message: /not valid YAML/},
  ]
  for (const {name, text, message} of refusals) {
    it(`refuses ${name}`, () =>
      assert.throws(
        () => read(text),
        (error: Error & {code: string}) => {
          assert.equal(error.code, 'CONFIG_INVALID')
          assert.match(error.message, message)
          return true
        },
      ))
  }
})
