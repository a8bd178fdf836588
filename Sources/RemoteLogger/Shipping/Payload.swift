import Foundation

/// The body of a request, made once: each attempt sends the same bytes.
struct Payload: Sendable {
    let body: Data
    var isCompressed = false
    let records: Int
    /// Whether compression was wanted and there is nothing to compress with.
    var lacksCompressor = false
    /// Whether the same was refused when it was compressed.
    var isSecondTry = false
}
