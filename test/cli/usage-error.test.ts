import assert from 'node:assert/strict'
import {usageErrorOf} from '../../src/cli/usage-error.ts'
import {run} from './program.ts'

const MISTAKES: {line: string[]; says: string}[] = [
  {line: ['init', '--nonsense'], says: 'there is no flag --nonsense'},
  {line: ['init', '--one', '--two'], says: 'there is no flag --one, --two'},
  {line: ['init', 'nonsense'], says: 'unexpected argument "nonsense"'},
  {line: ['init', '--output'], says: '--output needs a value: one of table, json, yaml, name'},
  {
    line: ['init', '--output', 'xml'],
    says: '--output must be one of table, json, yaml, name, not "xml"',
  },
  {line: ['init', '--node-name'], says: '--node-name needs a value'},
  {
    line: ['init', '--foreground', '--dry-run'],
    says: '--foreground and --dry-run cannot be used together',
  },
  {line: ['init', '--quiet', '--verbose'], says: '--quiet and --verbose cannot be used together'},
  {
    line: ['init', '--apiserver-bind-port', '70000'],
    says: '--apiserver-bind-port must be a port number from 0 to 65535, not 70000',
  },
  {
    line: ['init', '--apiserver-bind-port', 'abc'],
    says: '--apiserver-bind-port must be a port number from 0 to 65535, not "abc"',
  },
  {
    line: ['init', '--apiserver-bind-port=-1'],
    says: '--apiserver-bind-port must be a port number from 0 to 65535, not "-1"',
  },
  {
    line: ['init', '--bind-address', 'localhost'],
    says: '--bind-address must be an IP address, not "localhost"',
  },
  {
    line: ['init', '--apiserver-cert-extra-sans', 'a.example,,b.example'],
    says: '--apiserver-cert-extra-sans must be a list of strings',
  },
  {
    line: ['init', '--control-plane-endpoint', 'https://a.example'],
    says: '--control-plane-endpoint must be a host, or a host and a port as in "api.example.com:6443", not "https://a.example"',
  },
  {
    line: ['init', '--node-name', 'a_b'],
    says: '--node-name must be a name as in "node1.example.com", not "a_b"',
  },
  {line: ['init', '--dir', ''], says: '--dir is empty'},
  {line: ['init', '--dir='], says: '--dir is empty'},
  {line: ['init', ''], says: 'an argument is empty'},
  {line: ['kubeconfig', 'user'], says: '--client-name is missing'},
  {line: ['certificate', 'renew'], says: '<name> is missing'},
  {line: ['autocomplete'], says: '<shell> is missing: one of bash, zsh, fish'},
  {line: ['autocomplete', 'tcsh'], says: '"tcsh" is not one of bash, zsh, fish'},
  {
    line: ['certificate', '--verbose'],
    says: '"certificate" is a group of commands and has no flags',
  },
  {line: ['--verbose'], says: 'the command is missing before --verbose'},
]

describe('a mistake on the command line', () => {
  for (const {line, says} of MISTAKES) {
    it(`is told in one sentence with a hint: trustadm ${line.join(' ')}`, async () => {
      const {stdout, stderr, exit} = await run(...line)
      const [first = '', second = ''] = stderr.split('\n')
      assert.equal(first, `Error: ${says}`)
      assert.match(second, /^Try this:/)
      assert.equal(stdout, '')
      assert.equal(exit, 2)
    })
  }

  for (const [line, meant] of [
    [['init', '--output', 'jsn'], 'json'],
    [['init', 'phase', 'cert'], 'certs'],
    [['init', 'phase', 'certs', 'apiserver-kublet-client'], 'apiserver-kubelet-client'],
    [['controllers', '--controllers', 'csr-sinner', '--print-rbac'], 'csr-signer'],
    [['serve', '--controllers', '*,-token-cleaned'], 'token-cleaner'],
  ] as const) {
    it(`suggests the value that was meant: trustadm ${line.join(' ')}`, async () => {
      const {stderr, exit} = await run(...line)
      assert.ok(stderr.includes(`did you mean "${meant}"?`), stderr)
      assert.equal(exit, 2)
    })
  }

  it('keeps to one line where the parser says something that is not known', () => {
    const error = Object.assign(new Error('Something\n\todd\nSee more help with --help'), {
      oclif: {exit: 2},
    })
    assert.equal(usageErrorOf(error)?.message, 'Something odd')
  })

  it('is not seen in other errors', () => {
    assert.equal(usageErrorOf(new RangeError('odd')), undefined)
  })

  it('leaves the word behind a list to the command', async () => {
    const {stderr} = await run('init', '--skip-phases', 'certs', 'rbac')
    assert.match(stderr, /unexpected argument "rbac"/)
  })
})
