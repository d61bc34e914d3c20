import assert from 'node:assert/strict'
import type {WatchEvent} from '../../../src/api/meta.ts'
import {listOptions} from '../../../src/server/registry/options.ts'
import {eventForm} from '../../../src/server/registry/present.ts'
import {Registry} from '../../../src/server/registry/registry.ts'
import {startWatch} from '../../../src/server/registry/watch.ts'
import {RESOURCES} from '../../../src/server/resources/index.ts'
import {openMemoryStorage} from '../../../src/storage/memory.ts'
import {until} from '../support.ts'

const object = (name: string) => Buffer.from(JSON.stringify({metadata: {name, namespace: 'n'}}))

describe('bookmarks of a watch', () => {
  const storage = openMemoryStorage()
  const resource = RESOURCES.find(({plural}) => plural === 'configmaps')!
  let registry: Registry

  before(async () => {
    registry = await Registry.open(storage, RESOURCES, {windowBytes: 1e6})
  })
  after(async () => {
    registry.close()
    await storage.close()
  })

  function watch(query: string, namespace: string) {
    const stop = new AbortController()
    const events: WatchEvent[] = []
    const stream = startWatch(registry, registry.store('', 'configmaps')!, {
      options: listOptions(new URLSearchParams(query), true),
      selection: {
        namespace,
        name: undefined,
        everything: false,
        needsContent: true,
        matches: (stored) => stored.namespace === namespace,
      },
      form: eventForm({
        resource,
        version: 'v1',
        representation: {as: 'object'},
        include: 'Metadata',
        now: () => new Date(0),
      }),
      signal: stop.signal,
      random: () => 0,
      bookmarkMilliseconds: 20,
    })
    const ended = (async () => {
      for await (const text of stream)
        events.push(
          ...text
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line) as WatchEvent),
        )
    })()
    return {
      events,
      async stop() {
        stop.abort()
        await ended
      },
    }
  }

  const isBookmarkFrom = (revision: number) => (event: WatchEvent) =>
    event.type === 'BOOKMARK' && Number(event.object.metadata.resourceVersion) >= revision

  /** As long as it takes until another watch has received some. */
  async function severalBookmarks(): Promise<void> {
    const other = watch('allowWatchBookmarks=true', 'n')
    await until(() => other.events.filter(isBookmarkFrom(0)).length > 3)
    await other.stop()
  }

  it('come by themselves while nothing happens, with the newest revision', async () => {
    const following = watch('allowWatchBookmarks=true', 'n')
    const {revision} = await storage.create('/registry/core/secrets/n/a', object('a'))
    await until(() => following.events.filter(isBookmarkFrom(revision)).length > 2)
    await following.stop()
    assert.deepEqual(Object.keys(following.events[0]?.object.metadata ?? {}), ['resourceVersion'])
  })

  it('come although objects that the watch is not about change all the time', async () => {
    const {revision: since} = await storage.create('/registry/core/configmaps/n/b', object('b'))
    const following = watch(`allowWatchBookmarks=true&resourceVersion=${since}`, 'other')
    let {revision} = (await storage.get('/registry/core/configmaps/n/b'))!
    await until(async () => {
      ;({revision} = await storage.update('/registry/core/configmaps/n/b', object('b'), revision))
      return following.events.some(isBookmarkFrom(since + 1))
    })
    await following.stop()
    assert.deepEqual(new Set(following.events.map(({type}) => type)), new Set(['BOOKMARK']))
  })

  it('do not send a caller back behind the revision that it waits for', async () => {
    const future = (await storage.revision()) + 2
    const following = watch(`allowWatchBookmarks=true&resourceVersion=${future}`, 'n')
    await severalBookmarks()
    assert.deepEqual(following.events, [])
    await storage.create('/registry/core/secrets/n/c', object('c'))
    await storage.create('/registry/core/secrets/n/d', object('d'))
    await until(() => following.events.some(isBookmarkFrom(future)))
    await following.stop()
  })

  it('do not come to who has not asked', async () => {
    const following = watch(`resourceVersion=${await storage.revision()}`, 'n')
    await severalBookmarks()
    await following.stop()
    assert.deepEqual(following.events, [])
  })
})
