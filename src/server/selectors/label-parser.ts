import {keyComplaint, valuesComplaint} from './requirement.ts'
import type {LabelOperator, Requirement} from './requirement.ts'

/** A selector that does not follow the grammar; the server returns BadRequest. */
export class SelectorSyntaxError extends Error {
  override name = 'SelectorSyntaxError'
}

interface Token {
  type: 'word' | 'symbol' | 'end'
  text: string
}

const TOKEN = /[ \t\r\n]*(?:(==|!=|[=!(),<>])|([^=!(),<> \t\r\n]+))/y
const END: Token = {type: 'end', text: ''}
const OPERATORS: Record<string, LabelOperator> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
}
/** The most terms: each is tested on every object of a list. A set of values counts as one. */
export const MOST_REQUIREMENTS = 100
/** The most values in all sets together: each is checked and sorted before anything is listed. */
const MOST_VALUES = 1000
const EXPECTED_OPERATORS = 'in, notin, =, ==, !=, gt, lt'

function scan(text: string): Token[] {
  const found: Token[] = []
  TOKEN.lastIndex = 0
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [, symbol, word] = match
    found.push(
      symbol === undefined ? {type: 'word', text: word ?? ''} : {type: 'symbol', text: symbol},
    )
  }
  return found
}

const fail = (found: string, expected: string, comma = ',') =>
  new SelectorSyntaxError(`found '${found}'${comma} expected: ${expected}`)

/** Kubernetes' grammar: `k`, `!k`, `k=v`, `k==v`, `k!=v`, `k in (a,b)`, `k notin (a,b)`, `k>n`, `k<n`, joined by commas. */
class LabelParser {
  readonly #tokens: Token[]
  #position = 0
  #values = 0

  constructor(text: string) {
    this.#tokens = scan(text)
  }

  parse(): Requirement[] {
    const requirements: Requirement[] = []
    while (!this.#at('end')) {
      if (requirements.length >= MOST_REQUIREMENTS) {
        throw new SelectorSyntaxError(`more than ${MOST_REQUIREMENTS} requirements`)
      }
      if (!this.#startsRequirement()) {
        throw fail(this.#peek().text, "!, identifier, or 'end of string'")
      }
      requirements.push(this.#requirement())
      const next = this.#next()
      if (next.type === 'end') break
      if (next.text !== ',') throw fail(next.text, "',' or 'end of string'")
      if (!this.#startsRequirement()) throw fail(this.#peek().text, "identifier after ','")
    }
    return requirements
  }

  #requirement(): Requirement {
    try {
      return this.#term()
    } catch (error) {
      if (!(error instanceof SelectorSyntaxError)) throw error
      throw new SelectorSyntaxError(`unable to parse requirement: ${error.message}`)
    }
  }

  #term(): Requirement {
    const negated = this.#at('!')
    if (negated) this.#next()
    const key = this.#next()
    if (key.type !== 'word') throw fail(key.text, 'identifier')
    refuse(keyComplaint(key.text))
    if (negated) return {key: key.text, operator: '!', values: []}
    if (this.#at('end') || this.#at(',')) return {key: key.text, operator: 'exists', values: []}
    const word = this.#next().text
    const operator = Object.hasOwn(OPERATORS, word) ? OPERATORS[word] : undefined
    if (operator === undefined) throw fail(word, EXPECTED_OPERATORS)
    const values = operator === 'in' || operator === 'notin' ? this.#set() : [this.#value()]
    const requirement = {key: key.text, operator, values}
    refuse(valuesComplaint(requirement))
    return requirement
  }

  #value(): string {
    if (this.#at('end') || this.#at(',')) return ''
    const value = this.#next()
    if (value.type !== 'word') throw fail(value.text, 'identifier')
    return value.text
  }

  /** `(a,b)`; the text between two commas, or a comma and a parenthesis, may be empty. */
  #set(): string[] {
    const open = this.#next()
    if (open.text !== '(') throw fail(open.text, "'('", '')
    const values = new Set<string>()
    for (;;) {
      this.#values += 1
      if (this.#values > MOST_VALUES) {
        throw new SelectorSyntaxError(`more than ${MOST_VALUES} values`)
      }
      values.add(this.#element(values.size === 0 ? "',', ')' or identifier" : "',', or identifier"))
      const {text} = this.#next()
      if (text === ')') return [...values].sort()
      if (text !== ',') throw fail(text, "',' or ')'")
    }
  }

  #element(expected: string): string {
    if (this.#at(',') || this.#at(')')) return ''
    const element = this.#next()
    if (element.type !== 'word') throw fail(element.text, expected)
    return element.text
  }

  #startsRequirement(): boolean {
    return this.#peek().type === 'word' || this.#at('!')
  }

  #at(what: string): boolean {
    const {type, text} = this.#peek()
    return what === 'end' ? type === 'end' : type === 'symbol' && text === what
  }

  #peek(): Token {
    return this.#tokens[this.#position] ?? END
  }

  #next(): Token {
    const token = this.#peek()
    this.#position += 1
    return token
  }
}

function refuse(complaint: string | undefined): void {
  if (complaint !== undefined) throw new SelectorSyntaxError(complaint)
}

/** The terms of a label selector's text. Throws SelectorSyntaxError with the text of Kubernetes' parser. */
export const parseRequirements = (text: string): Requirement[] => new LabelParser(text).parse()
