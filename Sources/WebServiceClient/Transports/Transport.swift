/// Puts a request on the wire and delivers the response.
///
/// This is the seam for another HTTP engine. A transport
/// * sends exactly what the request says, once: it follows no redirect, answers no challenge, keeps no cookies and no cache;
/// * returns as soon as the head of the final response is there (1xx responses aren't final), the body then is pulled;
/// * ends the transfer when the task is cancelled or the body is dropped, with `CancellationError` for the former;
/// * obeys ``ServiceRequest/timeouts`` and ``ServiceRequest/deadline``;
/// * throws ``TransportError`` for everything that goes wrong below HTTP, and answers every status with a response;
/// * refuses what it can't do, with ``TransportError/Code/unsupported``, and never leaves it out: see ``ServiceRequest/checkTrust(_:)``.
///
/// To see or change calls whatever engine carries them, write an ``Interceptor`` instead.
public protocol Transport: Sendable {
    /// What this transport can do beyond the plain exchange.
    var capabilities: TransportCapabilities { get }

    /// Sends a request.
    ///
    /// - Throws: ``TransportError``, `CancellationError`, or ``RequestBodyError`` when the body can't be read.
    func send(_ request: ServiceRequest) async throws -> TransportResponse
}
