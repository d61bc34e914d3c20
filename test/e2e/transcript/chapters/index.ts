import type {Chapter} from '../step.ts'
import {applyAlone} from './apply-alone.ts'
import {applyShared} from './apply-shared.ts'
import {callers} from './callers.ts'
import {deletions} from './deletions.ts'
import {documents} from './documents.ts'
import {options} from './options.ts'
import {pages} from './pages.ts'
import {patches} from './patches.ts'
import {podPatches} from './pod-patches.ts'
import {refusals} from './refusals.ts'
import {representations} from './representations.ts'
import {reviews} from './reviews.ts'
import {roles} from './roles.ts'
import {selectors} from './selectors.ts'
import {services} from './services.ts'
import {statusPatches} from './status-patches.ts'
import {updates} from './updates.ts'
import {watchHistory} from './watch-history.ts'
import {watchStart} from './watch-start.ts'

export const CHAPTERS: Chapter[] = [
  updates,
  deletions,
  refusals,
  options,
  roles,
  patches,
  podPatches,
  statusPatches,
  applyAlone,
  applyShared,
  pages,
  selectors,
  representations,
  watchHistory,
  watchStart,
  callers,
  reviews,
  documents,
  services,
]
