import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {PassThrough} from 'node:stream'
import {formatClusterInfo} from '../../src/bootstrap/cluster-info.ts'
import type {Waiting} from '../../src/client/patience.ts'
import {discover} from '../../src/discovery/discover.ts'
import {TrustError} from '../../src/errors.ts'
import {
  DAY,
  from,
  issue,
  makeAuthority,
  type TestAuthority,
} from '../client/support/certificates.ts'
import {Cleanup, servePlain, serveTls} from '../client/support/servers.ts'
import {useTemporaryFolder} from '../pki/support.ts'
import {
  CLUSTER_INFO_PATH,
  ONCE,
  answerStatus,
  startFakeCluster,
  type FakeCluster,
} from './support.ts'

describe('discovery by a document', () => {
  const cleanup = new Cleanup()
  const folder = useTemporaryFolder()
  let cluster: FakeCluster
  let file: string
  beforeEach(async () => {
    cluster = cleanup.add(await startFakeCluster())
    file = join(folder(), 'cluster.yaml')
  })
  afterEach(() => cleanup.run())

  const documentOf = (ca: string | undefined = cluster.ca) =>
    formatClusterInfo({server: cluster.url, ...(ca !== '' && {ca})})

  describe('from a file', () => {
    const byFile = async (text: string, settings = {}) => {
      await writeFile(file, text)
      return await discover({file}, {...ONCE, ...settings})
    }

    it('is confirmed by cluster-info over verified TLS', async () => {
      const info = await byFile(documentOf())
      assert.deepEqual(
        {server: info.server, ca: info.ca, source: info.source, pins: info.pins},
        {server: cluster.url, ca: cluster.ca, source: 'file', pins: [cluster.pin]},
      )
      assert.deepEqual(cluster.requests, [`GET ${CLUSTER_INFO_PATH}`])
      assert.deepEqual(info.warnings, [])
    })

    it('takes over what the cluster says by now', async () => {
      const next = await makeAuthority('kubernetes')
      const kubeconfig = formatClusterInfo({
        server: 'https://api.example:6443',
        ca: cluster.ca + next.pem,
      })
      cluster.publish({kubeconfig})
      const info = await byFile(documentOf())
      assert.deepEqual(
        {server: info.server, ca: info.ca, kubeconfig: info.kubeconfig, endpoints: info.endpoints},
        {
          server: 'https://api.example:6443',
          ca: cluster.ca + next.pem,
          kubeconfig,
          endpoints: [cluster.url],
        },
      )
    })

    for (const [status, reason] of [
      [403, 'Forbidden'],
      [401, 'Unauthorized'],
      [404, 'NotFound'],
    ] as const) {
      it(`stands as it is where the cluster answers ${status}`, async () => {
        cluster.answerWith((_request, response) => answerStatus(response, status, reason))
        const info = await byFile(documentOf())
        assert.deepEqual([info.server, info.ca], [cluster.url, cluster.ca])
        assert.equal(info.kubeconfig, documentOf())
        assert.match(info.warnings.join(), /used as it is/)
      })
    }

    it('finds a cluster that has moved to one of the addresses it was kept with', async () => {
      const gone = await startFakeCluster()
      await gone.stop()
      const text = formatClusterInfo({server: gone.url, ca: cluster.ca}).replace(
        /( +)server: .*\n/,
        (line, indent: string) =>
          `${line}${indent}extensions: [{name: trustadm.io/endpoints, extension: {endpoints: ['${cluster.url}']}}]\n`,
      )
      const {server, endpoints} = await byFile(text)
      assert.deepEqual([server, endpoints], [cluster.url, [gone.url]])
    })

    it('is refused where the server is not the one that its CA vouches for', async () => {
      const {pem} = await makeAuthority('kubernetes')
      await assert.rejects(byFile(documentOf(pem)), {code: 'SERVER_NOT_TRUSTED'})
      assert.deepEqual(cluster.requests, [])
    })

    it('without a CA goes by the roots of the system', async () => {
      const roots = join(folder(), 'roots.pem')
      await writeFile(roots, cluster.ca)
      const text = documentOf('')
      const info = await byFile(text, {environment: {SSL_CERT_FILE: roots}})
      assert.equal(info.server, cluster.url)
      await writeFile(roots, (await makeAuthority('another')).pem)
      await assert.rejects(byFile(text, {environment: {SSL_CERT_FILE: roots}}), {
        code: 'SERVER_NOT_TRUSTED',
      })
    })

    it('is not given up for all the roots of the system', async () => {
      cluster.publish({kubeconfig: documentOf('')})
      await assert.rejects(byFile(documentOf()), {
        code: 'CLUSTER_INFO_INVALID',
        message: /no longer contains a CA/,
      })
    })

    it('is refused with credentials inside, and the field is named', async () => {
      const text = documentOf().replace('users: null', 'users: [{name: a, user: {token: hush}}]')
      await assert.rejects(byFile(text), (error: TrustError) => {
        assert.equal(error.code, 'CLUSTER_INFO_CREDENTIALS')
        assert.match(error.message, /users\[0\]\.user\.token/)
        assert.doesNotMatch(JSON.stringify([error.message, error.suggestions]), /hush/)
        return true
      })
      assert.deepEqual(cluster.requests, [])
    })

    for (const {name, text} of [
      {name: 'an empty one', text: ''},
      {
        name: 'one whose CA data are "foo"',
        text: 'clusters: [{name: a, cluster: {server: https://a:1, certificate-authority-data: foo}}]',
      },
      {name: 'one with a plain http server', text: 'clusters: [{cluster: {server: http://a:1}}]'},
    ]) {
      it(`refuses ${name}`, async () => {
        await assert.rejects(byFile(text), {code: 'CLUSTER_INFO_INVALID'})
      })
    }

    it('refuses one whose CA has expired, before anybody is asked', async () => {
      const clock = {now: () => new Date(Date.now() + 31 * DAY)}
      await assert.rejects(byFile(documentOf(), {clock}), {code: 'CA_EXPIRED'})
      assert.deepEqual(cluster.requests, [])
    })

    it("says by how much the server's certificate is over", async () => {
      const pair = await issue(cluster.authority, {validity: from(-3 * DAY, -DAY - 1000)})
      const {url} = cleanup.add(await serveTls(pair, (_request, response) => response.end()))
      await assert.rejects(byFile(formatClusterInfo({server: url, ca: cluster.ca})), {
        code: 'SERVER_CERTIFICATE_EXPIRED',
        message: /1 day ago/,
      })
    })

    describe('that names the file of its CA', () => {
      const byPath = async (path: string, ca: string, more = '') => {
        const named = documentOf('').replace(
          /( +)server: .*\n/,
          (line, indent: string) => `${line}${indent}certificate-authority: ${path}\n${more}`,
        )
        await writeFile(join(folder(), 'ca.crt'), ca)
        return await byFile(named)
      }

      it('trusts the CA in it, and needs that file no more', async () => {
        for (const path of ['ca.crt', join(folder(), 'ca.crt')]) {
          cluster.answerWith((_request, response) => answerStatus(response, 403, 'Forbidden'))
          const info = await byPath(path, cluster.ca)
          assert.equal(info.ca, cluster.ca)
          assert.doesNotMatch(info.kubeconfig, /certificate-authority:/)
          assert.match(info.kubeconfig, /certificate-authority-data:/)
        }
      })

      it('goes by the CA inside, if there is one, as kubeadm does', async () => {
        const data = Buffer.from(cluster.ca).toString('base64')
        const more = `    certificate-authority-data: ${data}\n`
        const {ca} = await byPath('/missing.crt', '', more)
        assert.equal(ca, cluster.ca)
      })

      it('is refused if that file is missing, has no certificate, or has a key', async () => {
        const stranger = await issue(cluster.authority)
        await assert.rejects(byPath('/missing.crt', ''), {code: 'FILE_UNREADABLE'})
        await assert.rejects(byPath('ca.crt', 'no PEM'), {
          code: 'CLUSTER_INFO_INVALID',
          message: /certificate-authority names ca\.crt, which contains no PEM/,
        })
        await assert.rejects(byPath('ca.crt', cluster.ca + stranger.key), {
          code: 'CLUSTER_INFO_CREDENTIALS',
        })
        assert.deepEqual(cluster.requests, [])
      })
    })

    it('says that there is no such file', async () => {
      for (const missing of ['foo', '/missing.conf']) {
        await assert.rejects(discover({file: missing}, ONCE), {code: 'FILE_UNREADABLE'})
      }
    })

    it('refuses a file larger than 1 MiB', async () => {
      await assert.rejects(byFile('#'.repeat(1024 * 1024 + 1)), {code: 'FILE_UNSAFE'})
    })
  })

  describe('from standard input', () => {
    async function* chunks(...parts: string[]) {
      for (const part of parts) yield await Promise.resolve(Buffer.from(part))
    }

    it('is read to its end', async () => {
      const text = documentOf()
      const input = chunks(text.slice(0, 100), text.slice(100))
      const {server, source} = await discover({file: '-'}, {...ONCE, input})
      assert.deepEqual([server, source], [cluster.url, 'stdin'])
    })

    it('does not choose files of this machine', async () => {
      await writeFile(file, cluster.ca)
      const text = documentOf('').replace(
        /( +)server: .*\n/,
        `$&$1certificate-authority: ${file}\n`,
      )
      await assert.rejects(discover({file: '-'}, {...ONCE, input: chunks(text)}), {
        code: 'CLUSTER_INFO_INVALID',
        message: /certificate-authority names a file/,
      })
    })

    it('is not read without end', async () => {
      let parts = 0
      async function* endless() {
        for (;;) {
          parts += 1
          yield await Promise.resolve(Buffer.alloc(65_536, '#'))
        }
      }
      await assert.rejects(discover({file: '-'}, {...ONCE, input: endless()}), {
        code: 'CLUSTER_INFO_INVALID',
        message: /larger than 1 MiB/,
      })
      assert.ok(parts < 20)
    })

    it('is given up when its writer does not close it in time', async () => {
      const input = new PassThrough()
      input.write(documentOf())
      await assert.rejects(discover({file: '-'}, {...ONCE, timeout: 100, input}), {
        code: 'TIMED_OUT',
        message: /standard input was not closed/,
      })
      assert.deepEqual(cluster.requests, [])
    })

    it('must be there', async () => {
      await assert.rejects(discover({file: '-'}, ONCE), {code: 'USAGE'})
    })
  })

  describe('from an https:// URL', () => {
    let web: TestAuthority
    beforeEach(async () => {
      web = await makeAuthority('web')
    })

    const host = async (
      listener: Parameters<typeof serveTls>[1],
      validity?: ReturnType<typeof from>,
    ) => cleanup.add(await serveTls(await issue(web, validity ? {validity} : {}), listener))

    const byUrl = (url: string, settings = {}, fileCa: string | undefined = web.pem) =>
      discover({file: `${url}/cluster.yaml?v=1`, fileCa}, {...ONCE, ...settings})

    it('is fetched from a host of the given CA, without credentials', async () => {
      const asked: unknown[] = []
      const {url} = await host((request, response) => {
        asked.push([request.url, request.headers.authorization])
        response.end(documentOf())
      })
      const {server, ca, source} = await byUrl(url)
      assert.deepEqual([server, ca, source], [cluster.url, cluster.ca, 'https'])
      assert.deepEqual(asked, [['/cluster.yaml?v=1', undefined]])
    })

    it('is fetched from a host of the roots of the system, or the extra ones of Node', async () => {
      const {url} = await host((_request, response) => response.end(documentOf()))
      const [roots, extra] = [join(folder(), 'roots.pem'), join(folder(), 'extra.pem')]
      await writeFile(roots, (await makeAuthority('another')).pem)
      await writeFile(extra, web.pem)
      const environment = {SSL_CERT_FILE: roots, NODE_EXTRA_CA_CERTS: extra}
      assert.equal((await byUrl(url, {environment}, '')).server, cluster.url)
      await assert.rejects(byUrl(url, {environment: {SSL_CERT_FILE: roots}}, ''), {
        code: 'SERVER_NOT_TRUSTED',
      })
    })

    it('is waited for while the host has no answer, or not yet the file', async () => {
      const failures = [404, 500, 503]
      const {url} = await host((_request, response) => {
        const status = failures.shift()
        if (status === undefined) response.end(documentOf())
        else response.writeHead(status).end()
      })
      const waits: string[] = []
      const settings = {timeout: 20_000, onWait: ({message}: Waiting) => waits.push(message)}
      assert.equal((await byUrl(url, settings)).server, cluster.url)
      assert.deepEqual(
        waits,
        [404, 500, 503].map((status) => `${url} returned ${status} for the discovery file`),
      )
    })

    for (const {status, advice} of [
      {status: 401, advice: /without a login/},
      {status: 403, advice: /without a login/},
      {status: 404, advice: /check the URL/},
      {status: 500, advice: /check the web server/},
      {status: 503, advice: /check the web server/},
      {status: 203, advice: /the file itself/},
    ]) {
      it(`says what to do when the host returns ${status}`, async () => {
        const {url} = await host((_request, response) => response.writeHead(status).end())
        await assert.rejects(byUrl(url), ({suggestions}: TrustError) => {
          assert.equal(suggestions.length, 1)
          assert.match(suggestions[0] ?? '', advice)
          return true
        })
      })
    }

    it('names nothing on the control plane that would repair the host', async () => {
      const expired = await host(() => undefined, from(-3 * DAY, -DAY - 1000))
      const stranger = await startFakeCluster()
      cleanup.add(stranger)
      const gone = await host(() => undefined)
      await gone.stop()
      const silent = await host(() => undefined)
      for (const [url, code] of [
        [expired.url, 'SERVER_CERTIFICATE_EXPIRED'],
        [stranger.url, 'SERVER_NOT_TRUSTED'],
        [gone.url, 'SERVER_UNREACHABLE'],
        [silent.url, 'TIMED_OUT'],
      ] as const) {
        await assert.rejects(byUrl(url, {timeout: 100}), (error: TrustError) => {
          assert.equal(error.code, code)
          assert.match(error.suggestions.join('\n'), /web server/)
          assert.doesNotMatch(error.suggestions.join('\n'), /trustadm|control plane/)
          return true
        })
      }
    })

    it('is not waited for where the host wants a login', async () => {
      for (const status of [401, 403]) {
        const {url} = await host((_request, response) => response.writeHead(status).end())
        const onWait = () => assert.fail('it waited')
        await assert.rejects(byUrl(url, {timeout: 3_600_000, onWait}), {
          code: 'DISCOVERY_FILE_UNAVAILABLE',
        })
      }
    })

    const refusals: {
      name: string
      code: string
      listener: Parameters<typeof serveTls>[1]
      settings?: object
    }[] = [
      {
        name: 'a redirect',
        code: 'REDIRECT_REFUSED',
        listener: (_request, response) =>
          response.writeHead(302, {location: `${cluster.url}/kc`}).end(documentOf()),
      },
      {
        name: 'an error page, be there a document on it',
        code: 'DISCOVERY_FILE_UNAVAILABLE',
        listener: (_request, response) => response.writeHead(404).end(documentOf()),
      },
      {
        name: 'another kind of success',
        code: 'DISCOVERY_FILE_UNAVAILABLE',
        listener: (_request, response) => response.writeHead(203).end(documentOf()),
      },
      {
        name: 'more than 1 MiB',
        code: 'ANSWER_TOO_LARGE',
        listener: (_request, response) => response.end('#'.repeat(1024 * 1024 + 1)),
      },
      {
        name: 'silence',
        code: 'TIMED_OUT',
        listener: () => undefined,
        settings: {timeout: 100},
      },
      {
        name: 'a page that is no document',
        code: 'CLUSTER_INFO_INVALID',
        listener: (_request, response) => response.end('<html>'),
      },
      {
        name: 'credentials',
        code: 'CLUSTER_INFO_CREDENTIALS',
        listener: (_request, response) =>
          response.end(documentOf().replace('users: null', 'users: [{user: {password: a}}]')),
      },
    ]
    for (const {name, code, listener, settings} of refusals) {
      it(`refuses ${name}`, async () => {
        const {url} = await host(listener)
        await assert.rejects(byUrl(url, settings), {code})
        assert.deepEqual(cluster.requests, [])
      })
    }

    it('refuses a host that does not speak TLS', async () => {
      const {port} = cleanup.add(await servePlain((_, response) => response.end(documentOf())))
      await assert.rejects(byUrl(`https://127.0.0.1:${port}`), {code: 'SERVER_NOT_TLS'})
    })

    it('refuses a host of another CA', async () => {
      await assert.rejects(byUrl(cluster.url), {code: 'SERVER_NOT_TRUSTED'})
    })

    it('says by how much the certificate of the host is not valid yet', async () => {
      const {url} = await host((_, response) => response.end(), from(DAY + 60_000, 2 * DAY))
      await assert.rejects(byUrl(url), {code: 'CLOCK_SKEWED', message: /at least 1 day behind/})
    })

    it('never shows the path and query of the URL, which may be secret', async () => {
      const {url} = await host((_request, response) => response.writeHead(500).end())
      await assert.rejects(byUrl(url), ({message, suggestions, facts}: TrustError) => {
        assert.doesNotMatch(JSON.stringify([message, suggestions, facts]), /cluster\.yaml|v=1/)
        return true
      })
    })
  })
})
