import Foundation

extension CurlExchange {
    /// The response that a head begins.
    ///
    /// - Throws: ``TransportError`` with `unreadableResponse` when the head contradicts itself.
    func response(to request: ServiceRequest, _ head: CurlHead) throws -> TransportResponse {
        let (status, version, headers) = head.parsed()
        guard status >= 100 else {
            let fault = TransportError(
                .unreadableResponse, "What \(self.request.host) answered is no HTTP that can be read: its status line is none.")
            abandon(fault)
            throw fault
        }
        let codings = head.framing.isContentCoded ? try codings(of: headers) : []
        let length = head.isOfTunnel ? 0 : Self.bodyLength(status, head.framing, method: request.method, isDecoded: !codings.isEmpty)
        let meter = request.downloadProgress.map { DownloadMeter(total: length, report: $0) }
        let decoded = codings.isEmpty ? nil : decodedBody(codings)
        let body = ResponseBody(
            expectedLength: length,
            next: { wanted in
                // Who watches the progress wants to see some.
                let piece = if let decoded { try await decoded.next() } else { try await self.next(meter == nil ? wanted : 1) }
                meter?.passed(piece)
                return piece
            },
            arrived: { wanted in
                guard decoded == nil else { return .nothing }
                let arrival = try self.arrived(meter == nil ? wanted : 1)
                if case .piece(let piece) = arrival { meter?.passed(piece) }
                return arrival
            },
            cancel: { self.drop(isDecoded: decoded != nil) })
        let report = ExchangeReport(
            informational: head.parsedInformational(), metrics: { self.state.withLock { $0.metrics }.value },
            trailers: {
                HTTPFields(HTTPFields.Lines(self.state.withLock { $0.trailers }))
            })
        return TransportResponse(
            status: status, headers: headers, url: request.url, body: body, httpVersion: version.map(Self.name), report: report,
            isTunnelRefusal: head.isOfTunnel)
    }

    /// The codings that are undone; none where the request wants the body as it comes.
    private func codings(of headers: HTTPFields) throws(TransportError) -> [ContentCoding] {
        guard request.fields.isDecoded else { return [] }
        do {
            return try ContentCoding.ofBody(headers, host: request.host)
        } catch {
            abandon(error)
            throw error
        }
    }

    private func decodedBody(_ codings: [ContentCoding]) -> DecodedBody {
        DecodedBody(
            codings, host: request.host, source: { try await self.next() }, check: { try self.checkWanted() },
            abandon: { self.abandon($0) })
    }

    /// The number of bytes that the reader will see, where the head tells (RFC 9112 §6.3).
    private static func bodyLength(
        _ status: Int, _ framing: CurlHead.Framing, method: ServiceRequest.Method, isDecoded: Bool
    ) -> Int64? {
        guard method != .head, status != 204, status != 304 else { return 0 }
        guard !framing.isTransferCoded else { return nil }
        return isDecoded && framing.length != 0 ? nil : framing.length
    }

    private static func name(_ version: String) -> String {
        version == "HTTP/2.0" ? "HTTP/2" : version
    }
}
