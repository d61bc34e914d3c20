import assert from 'node:assert/strict'
import {rotationPlanView, rotationView} from '../../../src/cli/views/ca-rotation.ts'
import type {RotationReport} from '../../../src/control-plane/ca-rotation/report.ts'
import type {LastRotation} from '../../../src/control-plane/last-rotation.ts'

const certificateAuthorities = {
  phase: 'Prepare',
  lastInitiation: '2026-11-17T17:20:42.351Z',
  lastCompletion: '2026-01-17T17:07:43.671Z',
}

const headline = async (report: Partial<RotationReport>): Promise<string> => {
  const text = await rotationView('/srv/plane').table({
    credentials: {rotation: {certificateAuthorities}},
    dependents: [],
    stillTrusting: [],
    steps: [],
    authorities: [],
    advice: [],
    isReady: false,
    isSettled: false,
    ...report,
  } as unknown as RotationReport)
  return text.split('\n')[0] ?? ''
}

describe('the first line of "ca rotate status"', () => {
  it('says which command is not finished, and since when, in whole seconds', async () => {
    assert.equal(
      await headline({action: 'start', nodes: {done: 0, total: 1}}),
      'Phase Prepare, started 2026-11-17T17:20:42Z, 0 of 1 nodes done: "ca rotate start" is not finished; to continue, run it again. Last completed 2026-01-17T17:07:43Z.',
    )
  })

  it('names the next command, for this control plane', async () => {
    assert.match(
      await headline({action: 'start', isReady: true, isSettled: true}),
      /: ready for "trustadm ca rotate complete --dir \/srv\/plane"\. /,
    )
  })

  it('says when the last rotation was completed if none is in progress', async () => {
    assert.equal(
      await headline({}),
      'No rotation is in progress; last completed 2026-01-17T17:07:43Z.',
    )
  })

  const after = (changes: LastRotation) =>
    headline({credentials: {rotation: {certificateAuthorities: changes}}})

  it('tells an aborted rotation apart from a completed one', async () => {
    const {lastInitiation, lastCompletion} = certificateAuthorities
    const lastAbort = '2026-11-17T18:00:00.000Z'
    assert.equal(
      await after({lastInitiation, lastCompletion, lastAbort}),
      'No rotation is in progress; the last one was aborted 2026-11-17T18:00:00Z; last completed 2026-01-17T17:07:43Z.',
    )
    assert.match(await after({lastInitiation, lastAbort}), /18:00:00Z; never completed\.$/)
  })

  it('does not take the rotation of one CA for that of all', async () => {
    const partial: LastRotation = {
      phase: 'Completed',
      lastInitiation: certificateAuthorities.lastInitiation,
      only: ['front-proxy-ca'],
      completions: {'front-proxy-ca': '2026-11-17T18:00:00.000Z'},
    }
    assert.equal(
      await after(partial),
      'No rotation is in progress; the last one, of front-proxy-ca alone, was completed 2026-11-17T18:00:00Z; all CAs: never completed.',
    )
    const {lastCompletion} = certificateAuthorities
    assert.match(await after({...partial, lastCompletion}), /all CAs: last completed 2026-01-17T/)
  })
})

describe('who would be locked out, in "ca rotate status"', () => {
  const dependents = Array.from({length: 200}, (_, index) => ({
    kind: 'node' as const,
    name: `w${index}`,
    reasons: ['uses the old CA'],
    todo: `renew w${index}`,
  }))
  const lines = async (all?: boolean) => {
    const text = await rotationView('/srv/plane', all).table({
      credentials: {rotation: {certificateAuthorities}},
      steps: [],
      authorities: [],
      advice: [],
      dependents,
      stillTrusting: [],
    } as unknown as RotationReport)
    return text.split('\n')
  }

  it('is the first of many, with the number of the others and how to see them', async () => {
    const shown = await lines()
    assert.ok(shown.length < 20, shown.join('\n'))
    const text = shown.join(' ').replace(/\s+/g, ' ')
    assert.match(text, /node w4 .* … and 195 more 200 nodes have not followed/)
    assert.match(text, /→ run "trustadm node renew" on each of these nodes/)
    assert.match(text, /run "trustadm ca rotate status --all --dir \/srv\/plane"/)
  })

  it('is everyone with --all', async () => {
    const text = (await lines(true)).join('\n')
    assert.match(text, /node +w199 /)
    assert.doesNotMatch(text, /and 195 more|status --all/)
  })
})

describe('the dry run of a forced "ca rotate complete"', () => {
  it('shows whom it locks out', async () => {
    const one = {kind: 'node' as const, name: 'away', reasons: ['uses the old CA'], todo: 'renew'}
    const plan = {
      action: 'complete' as const,
      resumes: false,
      authorities: ['ca'],
      steps: [{id: 'sign-servers', summary: 'sign', state: 'to do' as const}],
      dependents: [],
      groups: [],
      lockedOut: [one],
    }
    const text = await rotationPlanView.table(plan)
    assert.match(text, /These will be locked out, as you asked:\n\nKIND +NAME[^]*node +away/)
    assert.doesNotMatch(text, /refused/)
  })
})
