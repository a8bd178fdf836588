// swift-tools-version: 6.1

import PackageDescription

// A separate package, so that the library's resolves no dependencies.

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "web-service-client-benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "web-service-client", path: ".."),
        // Without its traits it requires no jemalloc and replaces no malloc: it measures what users run.
        .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
    ],
    targets: [
        .target(
            name: "Workloads",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"),
                .product(name: "OData", package: "web-service-client"),
                .product(name: "ODataQueryParsing", package: "web-service-client"),
                .product(name: "RemoteLogger", package: "web-service-client"),
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "ClientBenchmarks",
            dependencies: ["Workloads", .product(name: "Benchmark", package: "benchmark")],
            path: "ClientBenchmarks", swiftSettings: settings,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
        .executableTarget(name: "ratios", dependencies: ["Workloads"], path: "Sources/Ratios", swiftSettings: settings),
    ]
)
