// swift-tools-version: 6.1

import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// Programs for what a test can't do in its own process: exit at a bad moment, stream for long, grow (`stress`); be killed while writing and
// shipping logs (`sweep`), writing a cache (`cache-sweep`), and transferring files (`transfers`); print models (`csdl-agreement`);
// record exchanges (`har-agreement`); play a service (`mock-server`);
// call through a cache (`cache-peers`);
// write OpenAPI documents (`openapi-export`), and call the operations of others (`openapi-agreement`).
let package = Package(
    name: "web-service-client-probes",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "web-service-client", path: "../../..")],
    targets: [
        .executableTarget(
            name: "probe",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"),
                .product(name: "OData", package: "web-service-client"),
                .product(name: "RemoteLogger", package: "web-service-client"),
                .product(name: "WebServiceTesting", package: "web-service-client"),
            ],
            path: "Sources", swiftSettings: settings),
        .executableTarget(
            name: "log-probe",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"),
                .product(name: "RemoteLogger", package: "web-service-client"),
            ],
            path: "Logs", swiftSettings: settings),
        .executableTarget(
            name: "transfer-probe",
            dependencies: [.product(name: "WebServiceClient", package: "web-service-client")],
            path: "Transfers", swiftSettings: settings),
        .executableTarget(
            name: "metadata-probe", dependencies: [.product(name: "ODataMetadata", package: "web-service-client")], path: "Metadata",
            swiftSettings: settings),
        .executableTarget(
            name: "archive-probe",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"),
                .product(name: "WebServiceTesting", package: "web-service-client"),
            ],
            path: "Archives", swiftSettings: settings),
        .executableTarget(
            name: "mock-probe",
            dependencies: [
                .product(name: "WebServiceClient", package: "web-service-client"),
                .product(name: "WebServiceTesting", package: "web-service-client"),
            ],
            path: "Mocks", swiftSettings: settings),
        .executableTarget(
            name: "openapi-probe", dependencies: [.product(name: "WebServiceClient", package: "web-service-client")], path: "Documents",
            swiftSettings: settings),
        .executableTarget(
            name: "operations-probe", dependencies: [.product(name: "WebServiceClient", package: "web-service-client")], path: "OpenAPI",
            swiftSettings: settings),
        .executableTarget(
            name: "cache-probe", dependencies: [.product(name: "WebServiceClient", package: "web-service-client")], path: "Caches",
            swiftSettings: settings),
        .executableTarget(
            name: "cache-peer-probe", dependencies: [.product(name: "WebServiceClient", package: "web-service-client")], path: "Peers",
            swiftSettings: settings),
    ]
)
