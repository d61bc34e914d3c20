/** Types of questions to the authenticator; parse.ts tells how a table is read. */
export const AUTHENTICATION = `
TokenReview object | Token review.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:TokenReviewSpec! required | Spec.
  3 status:TokenReviewStatus! | Status.

TokenReviewSpec | Token review spec.
  1 token:string | Token.
  2 audiences:[]string | Audiences.

TokenReviewStatus | Token review status.
  1 authenticated:bool | Authenticated.
  2 user:UserInfo! | User.
  4 audiences:[]string | Audiences.
  3 error:string | Error.

UserInfo | User info.
  1 username:string | Username.
  2 uid:string | Uid.
  3 groups:[]string | Groups.
  4 extra:map<ExtraValue> | Extra.

TokenRequest object | Token request.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:TokenRequestSpec! required | Spec.
  3 status:TokenRequestStatus! | Status.

TokenRequestSpec | Token request spec.
  1 audiences:[]string! required | Audiences.
  4* expirationSeconds:int64! | Expiration seconds.
  3* boundObjectRef:BoundObjectReference! | Bound object ref.

BoundObjectReference | Bound object reference.
  1 kind:string | Kind.
  2 apiVersion:string | Api version.
  3 name:string | Name.
  4 uid:string(types.UID) | Uid.

TokenRequestStatus | Token request status.
  1 token:string! required | Token.
  2 expirationTimestamp:Time! required | Expiration timestamp.

SelfSubjectReview object | Self subject review.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 status:SelfSubjectReviewStatus! | Status.

SelfSubjectReviewStatus | Self subject review status.
  1 userInfo:UserInfo! | User info.
`
