import Foundation

/// Writes to standard error and ignores failures.
package enum StandardError {
    /// Writes a text unchanged.
    package static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}

/// The version of this package, as sent in `User-Agent` (RFC 9110 §10.1.5).
package enum PackageVersion {
    /// The version of the next or current release, in Semantic Versioning format.
    package static let text = "0.1.0"
}
