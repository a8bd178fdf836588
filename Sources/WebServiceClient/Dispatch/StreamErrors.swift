package import Foundation

/// Makes a call's errors of what goes wrong while its body is read as a stream.
package struct StreamErrors: Sendable {
    let reader: ResponseReader

    /// The bound for bodies, and so for whatever of one has to be in memory.
    package var bodyLimit: Int { reader.endpoint.bodyLimit }

    /// The body broke off.
    package func receiving(_ error: any Error) -> any Error { reader.broken(error) }

    /// The body can't be read.
    ///
    /// - Parameters:
    ///   - beginning: its first bytes.
    ///   - isAll: whether there are no more.
    package func reading<Value: Decodable>(
        _ type: Value.Type, from beginning: Data, isAll: Bool, _ error: any Error
    ) -> any Error {
        reader.failure(of: error, reading: type, from: beginning, isAll: isAll)
    }
}
