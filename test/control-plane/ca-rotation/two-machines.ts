import assert from 'node:assert/strict'
import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {Secret} from '../../../src/api/core.ts'
import type {ApiClient} from '../../../src/client/api-client.ts'
import {afterStep, nextStep} from '../../../src/control-plane/ca-rotation/advance.ts'
import {catchUp} from '../../../src/control-plane/ca-rotation/follow-shared.ts'
import type {Action, Journal} from '../../../src/control-plane/ca-rotation/journal.ts'
import {newJournal, withGenerations} from '../../../src/control-plane/ca-rotation/new-journal.ts'
import {changesFiles, perform} from '../../../src/control-plane/ca-rotation/perform.ts'
import {
  sealRotation,
  type SharedRotation,
} from '../../../src/control-plane/ca-rotation/sealed-rotation.ts'
import {readShared} from '../../../src/control-plane/ca-rotation/share.ts'
import type {Choices} from '../../../src/control-plane/config/settings.ts'
import {savePlane} from '../../../src/control-plane/config/stored.ts'
import {ensurePlaneKey} from '../../../src/control-plane/plane-key.ts'
import {sleep, systemClock} from '../../../src/runtime.ts'
import {planeFixture, type PlaneFixture} from '../plane-fixture.ts'
import {contextFor, silent} from './support.ts'

const nothing = () => Promise.resolve()
const CLUSTER = 'the UID of kube-system'
const SHARED = /^(?:.*-ca|ca|sa|plane)\.(?:crt|key|pub)$/

/** Copies what all machines of a control plane have in common. */
async function copyShared(
  leader: PlaneFixture,
  follower: PlaneFixture,
  isWanted: (name: string) => boolean,
): Promise<void> {
  const [from, to] = [join(leader.dir, 'pki'), join(follower.dir, 'pki')]
  await mkdir(to, {recursive: true, mode: 0o700})
  for (const name of (await readdir(from)).filter((one) => SHARED.test(one) && isWanted(one)))
    await writeFile(join(to, name), await readFile(join(from, name)), {mode: 0o600})
}

/** Two machines of one control plane without servers: one rotates, the other follows. */
export class TwoMachines {
  readonly leader: PlaneFixture
  readonly follower: PlaneFixture
  #journal: Journal | undefined
  #secret: Secret | undefined

  private constructor(leader: PlaneFixture, follower: PlaneFixture) {
    this.leader = leader
    this.follower = follower
  }

  /** `choices` are those of the second machine, and besides its name also those of the first. */
  static async create(choices: Choices = {}): Promise<TwoMachines> {
    const leader = await planeFixture(choices)
    const follower = await planeFixture({...choices, nodeName: 'two'})
    await leader.provide('certs', 'kubeconfig')
    await ensurePlaneKey(leader.context.plane)
    await savePlane(leader.context.plane)
    // Each first machine with these choices has the same CAs, but a key of its own that the two share.
    await follower.provideAs(`second of ${JSON.stringify(choices)}`, async () => {
      await copyShared(leader, follower, (name) => !name.startsWith('plane.'))
      await follower.run('certs', 'kubeconfig')
    })
    await copyShared(leader, follower, (name) => name.startsWith('plane.'))
    await savePlane(follower.context.plane)
    return new TwoMachines(leader, follower)
  }

  /** Rotates on the first machine. Calls back each time that other servers would be waited for. */
  async rotate(
    action: Action,
    shared: (step: string) => Promise<void> = nothing,
    only = ['ca', 'sa'],
  ): Promise<void> {
    const {plane} = this.leader.context
    const now = systemClock.now()
    let journal: Journal =
      action === 'start' || !this.#journal
        ? await newJournal(plane, this.#journal, {only}, now)
        : {...this.#journal, action, done: []}
    for (let step = nextStep(journal); step; step = nextStep(journal)) {
      if (changesFiles(step)) await perform(contextFor(plane), journal, step)
      if (step.work.kind === 'create') journal = await withGenerations(plane, journal)
      if (['servers', 'others'].includes(step.work.kind)) {
        journal = await this.#share(journal)
        await shared(step.id)
      }
      journal = afterStep(journal, step, now)
    }
    this.#journal = await this.#share(journal)
  }

  /** Begins a rotation on the first machine: nothing has changed yet. */
  async begin(only = ['ca', 'sa']): Promise<void> {
    const {plane} = this.leader.context
    this.#journal = await this.#share(
      await newJournal(plane, this.#journal, {only}, systemClock.now()),
    )
  }

  /** What the second machine is to follow now. */
  async shared(): Promise<SharedRotation> {
    assert.ok(this.#journal)
    return await readShared(this.leader.context.plane, this.#journal)
  }

  async #share(journal: Journal): Promise<Journal> {
    const {plane} = this.leader.context
    const next = {...journal, shared: (journal.shared ?? 0) + 1}
    const key = await ensurePlaneKey(plane)
    this.#secret = sealRotation(await readShared(plane, next), {key, cluster: CLUSTER})
    return next
  }

  /** What the server of the second machine reads while it serves: all that is shared from now on. */
  client(signal: AbortSignal): Pick<ApiClient, 'namespaces' | 'secrets'> {
    const current = () => this.#secret
    async function* watch() {
      for (let seen: Secret | undefined; !signal.aborted; await sleep(10)) {
        if (seen === current()) continue
        seen = current()
        yield {type: 'MODIFIED', object: seen}
      }
    }
    const get = () => Promise.resolve({metadata: {uid: CLUSTER}})
    return {namespaces: {get}, secrets: {watch}} as unknown as ApiClient
  }

  /** What a server of the second machine does before it serves. */
  follow(): Promise<boolean> {
    const stored = (key: string): object =>
      key.includes('secrets') ? {...this.#secret} : {metadata: {uid: CLUSTER}}
    const get = (key: string) => {
      const value = Buffer.from(JSON.stringify(stored(key)))
      return Promise.resolve({key, value, revision: 1, created: 1})
    }
    return catchUp(this.follower.context.plane, {get}, {clock: systemClock, log: silent})
  }

  async remove(): Promise<void> {
    await this.leader.remove()
    await this.follower.remove()
  }
}
