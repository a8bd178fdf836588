import Foundation

/// What is fetched.
struct Target: Sendable {
    let url: URL
    /// Its name beneath the server's root, taken from the URL once and not in each call that wants it.
    let name: String
}
