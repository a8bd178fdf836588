/// The version of this package, as services are told in `User-Agent` (RFC 9110 §10.1.5).
package enum PackageVersion {
    /// The version of the next or current release, by Semantic Versioning.
    package static let text = "0.1.0"
}
