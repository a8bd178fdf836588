/// The version of this package, as services are told in `User-Agent` (RFC 9110 §10.1.5).
package enum PackageVersion {
    /// Of the release that is being made, by Semantic Versioning; `dev` until it is tagged.
    package static let text = "0.1.0-dev"
}
