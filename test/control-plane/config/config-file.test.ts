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
      documents: [
        'kubeadm.k8s.io/v1beta4 InitConfiguration',
        'kubeadm.k8s.io/v1beta4 ClusterConfiguration',
      ],
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
      `${INIT}certificateKey: abc\n---\napiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n`,
    )
    assert.deepEqual(warnings, [
      'InitConfiguration.certificateKey has no effect here',
      'KubeletConfiguration of kubelet.config.k8s.io/v1beta1 has no effect here',
    ])
  })

  const OWN = 'apiVersion: trustadm.io/v1alpha1\nkind: TrustadmConfiguration\n'

  it('reads what nodes may have serving certificates for', () => {
    const text = `${OWN}servingCIDRs: [10.0.0.0/8]\nservingDomains: [corp.example.com]\n`
    assert.deepEqual(parseConfigFile(text, 'config.yaml').choices, {
      servingCIDRs: ['10.0.0.0/8'],
      servingDomains: ['corp.example.com'],
    })
  })

  const refusals: {name: string; text: string; message: RegExp}[] = [
    {
      name: 'a range of addresses that is none',
      text: `${OWN}servingCIDRs: [10.0.0.0]\n`,
      message: /servingCIDRs must be address blocks as in .*, not "10\.0\.0\.0"/,
    },
    {
      name: 'a domain of nodes that is none',
      text: `${OWN}servingDomains: ["*.example.com"]\n`,
      message: /servingDomains must be a DNS domain/,
    },
    {name: 'an empty file', text: '', message: /no configuration/},
    {
      name: 'a file for other programs only',
      text: 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n',
      message: /no configuration/,
    },
    {
      name: 'a kind of kubeadm that does not exist',
      text: CLUSTER.replace('ClusterConfiguration', 'ClusterConfigration'),
      message: /unknown kind ClusterConfigration/,
    },
    {
      name: 'a kind of ours that does not exist',
      text: 'apiVersion: trustadm.io/v1alpha1\nkind: Nonsense\n',
      message: /unknown kind Nonsense/,
    },
    {name: 'a kind that is there twice', text: `${INIT}---\n${INIT}`, message: /twice/},
    {
      name: 'an alias without its anchor',
      text: `${INIT}timeouts: *nowhere\n`,
      message: /^kubeadm\.yaml: .*YAML/,
    },
    {
      name: 'an endpoint with a scheme',
      text: CLUSTER.replace('api.example.com:6443', 'https://api.example.com'),
      message: /controlPlaneEndpoint must be a host/,
    },
    {
      name: 'an endpoint with a port that is none',
      text: CLUSTER.replace(':6443', ':66443'),
      message: /controlPlaneEndpoint must be a host/,
    },
    {
      name: 'an alternative name that is neither name nor address',
      text: CLUSTER.replace('[api.example.com]', '["not a name"]'),
      message: /certSANs must be DNS names and IP addresses, not "not a name"/,
    },
    {
      name: 'a domain that is none',
      text: CLUSTER.replace('example.local', 'a_b'),
      message: /dnsDomain must be/,
    },
    {
      name: 'a node name that is none',
      text: INIT.replace('name: one', 'name: a_b'),
      message: /nodeRegistration\.name must be/,
    },
    {
      name: 'certificates that end at once',
      text: CLUSTER.replace('48h', '1ms'),
      message: /certificateValidityPeriod must be a duration/,
    },
    {
      name: 'certificates for ever',
      text: CLUSTER.replace('48h', '99999999h'),
      message: /certificateValidityPeriod must be a duration/,
    },
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
      message: /localAPIEndpoint\.bindPort must be a port/,
    },
    {
      name: 'an address that is none',
      text: INIT.replace('192.0.2.7', 'here'),
      message: /advertiseAddress must be an IP address/,
    },
    {
      name: 'an older version of kubeadm',
      text: INIT.replace('v1beta4', 'v1beta3'),
      message: /kubeadm\.k8s\.io\/v1beta3/,
    },
    {name: 'a document without a kind', text: 'a: 1\n', message: /has no apiVersion or kind/},
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
