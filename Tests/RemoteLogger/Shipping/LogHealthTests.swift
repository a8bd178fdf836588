import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

@Suite struct LogHealthTests {
    @Test func `health tells what became of everything`() async throws {
        let harness = try Harness(StubReceiver([.status(404), .status(200)]), format: RefusableFormat()) { $0.batch.records = 2 }
        let logger = RemoteLogger(label: "test", sinks: [try harness.shipper.filtered { $0.message != "no" }, ConsoleSink { _ in }])
        #expect(logger.pipeline.health.isGood)
        logger.info("a")
        logger.info("no")
        logger.info("b")
        _ = await harness.shipper.flush(within: .seconds(60))
        logger.info("c")
        _ = await harness.shipper.flush(within: .seconds(60))
        let health = logger.pipeline.health
        #expect(health.emitted == 4 && !health.isGood)
        #expect(health.receivers["default"]?.delivered == 1 && health.receivers["default"]?.dropped == [.rejected: 2])
        #expect(health.receivers["default"] == harness.shipper.statistics)
    }

    @Test func `updates come when something has changed, and end with the pipeline`() async throws {
        let clock = ManualLogClock()
        let sink = CollectingSink()
        let pipeline = LogPipeline(sinks: [sink], clock: clock)
        let logger = RemoteLogger(label: "test", pipeline: pipeline)
        let seen = Locked<[UInt64]>([])
        let task = Task { for await health in pipeline.healthUpdates(every: .seconds(5)) { seen.withLock { $0.append(health.emitted) } } }
        #expect(await eventually { seen.withLock { $0 } == [0] && clock.nextWake != nil })
        clock.advance(by: .seconds(5))
        await settle()
        logger.info("a")
        logger.info("b")
        #expect(await clock.run { seen.withLock { $0 } == [0, 2] })
        logger.info("c")
        await pipeline.shutdown(within: .zero)
        let isOver = Locked(false)
        Task {
            await task.value
            isOver.withLock { $0 = true }
        }
        #expect(await clock.run { isOver.withLock { $0 } })
        #expect(seen.withLock { $0 } == [0, 2, 3])
    }

    @Test func `who leaves an update loop leaves nothing behind`() async throws {
        let pipeline = LogPipeline(sinks: [])
        for await health in pipeline.healthUpdates(every: .seconds(3_600)) {
            #expect(health.emitted == 0)
            break
        }
    }
}
