import Foundation

/// Writes to standard error. Failures are nobody's business.
package enum StandardError {
    /// Writes a text as it is.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

/// The version of this package, as services are told in `User-Agent` (RFC 9110 §10.1.5).
package enum PackageVersion {
    /// The version of the next or current release, by Semantic Versioning.
    package static let text = "0.1.0"
}
