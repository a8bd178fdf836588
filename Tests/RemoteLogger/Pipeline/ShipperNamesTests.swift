import Foundation
import RemoteLogger
import Testing
import WebServiceClient

/// Shippers with equal names in one pipeline.
@Suite struct ShipperNamesTests {
    private static func shipper(_ receiver: StubReceiver, _ name: String? = nil) throws -> LogShipper {
        try LogShipper(to: Harness.endpoint(), format: RefusableFormat(), transport: receiver) { settings in
            settings.compression = .none
            if let name { settings.destination = name }
        }
    }

    @Test(arguments: [false, true]) func `one that fails isn't hidden by another one of its name`(isFirst: Bool) async throws {
        let (good, bad) = (StubReceiver(), StubReceiver([.status(404)]))
        let shippers = [try Self.shipper(isFirst ? bad : good), try Self.shipper(isFirst ? good : bad)]
        let logger = RemoteLogger(label: "test", sinks: shippers)
        #expect(logger.pipeline.health.isGood)
        logger.info("m")
        _ = await logger.flush(within: .seconds(60))
        let health = logger.pipeline.health
        #expect(!health.isGood)
        #expect(health.receivers == ["default": shippers[0].statistics, "default 2": shippers[1].statistics])
        #expect(health.receivers[isFirst ? "default" : "default 2"]?.dropped == [.rejected: 1])
        #expect(logger.pipeline.shippers["default"] === shippers[0] && logger.pipeline.shippers["default 2"] === shippers[1])
    }

    @Test func `a name that was given is nobody else's`() throws {
        let receiver = StubReceiver()
        let shippers = try [nil, nil, "default 2", nil, "other"].map { try Self.shipper(receiver, $0) }
        let pipeline = LogPipeline(sinks: shippers)
        let expected = ["default": 0, "default 3": 1, "default 2": 2, "default 4": 3, "other": 4]
        #expect(pipeline.shippers.count == 5 && pipeline.health.receivers.count == 5)
        for (key, index) in expected { #expect(pipeline.shippers[key] === shippers[index], "\(key)") }
    }

    @Test func `a shipper behind several filters is one`() async throws {
        let shipper = try Self.shipper(StubReceiver())
        let sinks = [try shipper.filtered { $0.message == "a" }, try shipper.filtered { $0.message == "b" }]
        let pipeline = LogPipeline(sinks: sinks + [try Self.shipper(StubReceiver()).filtered().filtered(from: .error)])
        #expect(Set(pipeline.health.receivers.keys) == ["default", "default 2"])
        #expect(pipeline.shippers["default"] === shipper)
    }
}
