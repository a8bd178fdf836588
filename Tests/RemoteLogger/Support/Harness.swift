import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// A shipper with a logger, its receiver, and a manual clock.
struct Harness {
    let clock = ManualLogClock()
    let receiver: StubReceiver
    let shipper: LogShipper
    let logger: RemoteLogger
    let events = Locked<[Diagnostics.Event]>([])

    static func endpoint() throws -> URL {
        try #require(URL(string: "http://receiver.test:4318/v1/logs"))
    }

    init(
        _ receiver: StubReceiver = StubReceiver(), transport: (any Transport)? = nil, format: any LogFormat = NDJSONFormat(),
        configure: (inout ShippingSettings) -> Void = { _ in }
    ) throws {
        self.receiver = receiver
        let events = events
        let clock = clock
        shipper = try LogShipper(to: Self.endpoint(), format: format, transport: transport ?? receiver) { settings in
            settings.compression = .none
            settings.clock = clock
            settings.diagnostics = Diagnostics { event in events.withLock { $0.append(event) } }
            configure(&settings)
        }
        logger = RemoteLogger(label: "test", pipeline: LogPipeline(sinks: [shipper], clock: clock), minimumLevel: .trace)
    }

    /// The invariant that every test ends with: every loss is counted.
    func expectConservation(_ location: SourceLocation = #_sourceLocation) {
        Self.expectConservation(of: shipper, location)
    }

    static func expectConservation(of shipper: LogShipper, _ location: SourceLocation = #_sourceLocation) {
        let counts = shipper.statistics
        #expect(counts.emitted == counts.delivered + counts.droppedInAll + counts.buffered, "\(counts)", sourceLocation: location)
    }
}
