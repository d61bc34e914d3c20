import {TrustError} from '../errors.ts'
import {TOKEN_CHARACTERS, type BootstrapToken} from './token.ts'

/** Secrets that the documentation of Kubernetes, its tests or ours show: everybody knows them, whatever id they come with. */
const PUBLISHED = new Set([
  '0123456789abcdef',
  '1234567890abcdef',
  '3f89s0fje9f38fhf',
  '6b6baab1d4a0a171',
  '9r9hcjoqgajrj4gi',
  'c0izixklcxtmnze7',
  'circumnavigation',
  'd09sbcov8ph2amjw',
  'f395accd246ae52d',
  'faddc87f5a5ab458',
])

const FEWEST_DISTINCT = 8
const LONGEST_PERIOD = 8
/** Of the 15 steps from one character to the next. Of 100,000 random secrets one or two get past it. */
const MOST_PREDICTABLE_STEPS = 9

const ORDERS = ['01234567890', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm']
const PREDICTABLE_PAIRS = new Set([
  ...Array.from(TOKEN_CHARACTERS, (character) => character + character),
  ...ORDERS.flatMap(pairsOf).flatMap((pair) => [pair, pair.charAt(1) + pair.charAt(0)]),
])

interface Weakness {
  found: (token: BootstrapToken) => boolean
  why: string
}

const WEAKNESSES: Weakness[] = [
  {found: ({secret}) => PUBLISHED.has(secret), why: 'it is an example from a document'},
  {found: ({id, secret}) => secret.includes(id), why: 'its secret repeats its id, which is public'},
  {found: ({secret}) => /^\d*$/.test(secret), why: 'its secret has only digits'},
  {
    found: ({secret}) => new Set(secret).size < FEWEST_DISTINCT,
    why: 'its secret has too few different characters',
  },
  {found: ({secret}) => isPeriodic(secret), why: 'its secret repeats itself'},
  {
    found: ({secret}) => predictableSteps(secret) > MOST_PREDICTABLE_STEPS,
    why: 'its secret follows the alphabet or the keyboard',
  },
]

/**
 * Why the token could be guessed, or undefined. The signature over cluster-info is public, so whoever reads it can try
 * secrets without asking the server: only what a random source made withstands that.
 */
export function weaknessOf(token: BootstrapToken): string | undefined {
  return WEAKNESSES.find(({found}) => found(token))?.why
}

/** Refuses a token that could be guessed. kubeadm takes any. */
export function requireStrongToken(token: BootstrapToken): void {
  const why = weaknessOf(token)
  if (why === undefined) return
  throw new TrustError('TOKEN_WEAK', `the token is easy to guess: ${why}`, {
    hints: [
      'leave the token out and a random one is made, or take one from "trustadm token generate"',
      'say --allow-weak to take it all the same',
    ],
  })
}

function isPeriodic(secret: string): boolean {
  for (let period = 1; period <= LONGEST_PERIOD; period++) {
    if (secret.startsWith(secret.slice(period))) return true
  }
  return false
}

function predictableSteps(secret: string): number {
  return pairsOf(secret).filter((pair) => PREDICTABLE_PAIRS.has(pair)).length
}

function pairsOf(text: string): string[] {
  return Array.from({length: text.length - 1}, (_, start) => text.slice(start, start + 2))
}
